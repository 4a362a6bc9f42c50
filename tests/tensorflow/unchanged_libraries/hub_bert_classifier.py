"""KerasHub: a BERT classifier from a configuration, with its preprocessor, `fit` and `predict` on texts."""
# packages: keras_hub, tensorflow_text
# releases: 2.16 and later

import keras
import keras_hub
import numpy as np
from report import report

keras.utils.set_random_seed(1)
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "film", "was", "good", "bad", "very", "##ly", "not"]
texts = ["the film was good", "the film was very bad", "not bad", "not very good"] * 4
labels = np.array([1, 0, 1, 0] * 4)

tokenizer = keras_hub.models.BertTokenizer(vocabulary=words)
preprocessor = keras_hub.models.BertTextClassifierPreprocessor(tokenizer, sequence_length=12)
backbone = keras_hub.models.BertBackbone(
    vocabulary_size=len(words), num_layers=2, num_heads=2, hidden_dim=16, intermediate_dim=32, max_sequence_length=12
)
classifier = keras_hub.models.BertTextClassifier(backbone=backbone, num_classes=2, preprocessor=preprocessor)
history = classifier.fit(texts, labels, batch_size=4, epochs=2, shuffle=False, verbose=0)
report(history=history.history, predicted=classifier.predict(texts[:4], verbose=0))
