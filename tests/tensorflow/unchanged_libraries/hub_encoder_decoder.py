"""KerasHub: BART's encoder and decoder, a Llama backbone, and its modeling layers in a model of one's own."""
# packages: keras_hub
# releases: 2.16 and later

import keras
import keras_hub
import numpy as np
from report import report

keras.utils.set_random_seed(1)
tokens = np.random.randint(1, 30, (4, 8))
mask = np.ones_like(tokens)
bart = keras_hub.models.BartBackbone(
    vocabulary_size=30, num_layers=1, num_heads=2, hidden_dim=16, intermediate_dim=32, max_sequence_length=8
)
llama = keras_hub.models.LlamaBackbone(
    vocabulary_size=30, num_layers=2, num_query_heads=4, num_key_value_heads=2, hidden_dim=16, intermediate_dim=32
)
both = {"encoder_token_ids": tokens, "encoder_padding_mask": mask, "decoder_token_ids": tokens, "decoder_padding_mask": mask}

inputs = keras.Input((8,), dtype="int32")
x = keras_hub.layers.TokenAndPositionEmbedding(30, 8, 16)(inputs)
x = keras_hub.layers.TransformerEncoder(32, 2)(x)
x = keras_hub.layers.TransformerDecoder(32, 2)(x)
x = keras_hub.layers.FNetEncoder(32)(x)
model = keras.Model(inputs, keras.layers.Dense(30)(x))
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(tokens, tokens, epochs=3, verbose=0)
report(
    history=history.history, bart=bart.predict(both, verbose=0),
    llama=llama.predict({"token_ids": tokens, "padding_mask": mask}, verbose=0),
)
