"""KerasHub: a GPT-2 language model from a configuration, `fit` and `generate` with greedy, top-k and beam samplers."""
# packages: keras_hub
# releases: 2.16 and later

import keras
import keras_hub
import numpy as np
from report import report

keras.utils.set_random_seed(1)
backbone = keras_hub.models.GPT2Backbone(
    vocabulary_size=30, num_layers=2, num_heads=2, hidden_dim=16, intermediate_dim=32, max_sequence_length=16
)
model = keras_hub.models.GPT2CausalLM(backbone=backbone, preprocessor=None)
tokens = np.random.randint(1, 30, (16, 12))
inputs = {"token_ids": tokens, "padding_mask": np.ones_like(tokens)}
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), weighted_metrics=["accuracy"])
history = model.fit(inputs, np.roll(tokens, -1, 1), batch_size=4, epochs=2, shuffle=False, verbose=0)
prompt = {"token_ids": np.pad(tokens[:2, :4], ((0, 0), (0, 8))), "padding_mask": np.pad(np.ones((2, 4), "int32"), ((0, 0), (0, 8)))}


def generate(sampler):
    model.compile(sampler=sampler)
    return model.generate(prompt, stop_token_ids=None)["token_ids"]


greedy, beam = generate("greedy"), generate(keras_hub.samplers.BeamSampler(3))
# XLA, which compiles `generate` on the CPU, draws other categorical numbers than TensorFlow's kernel does.
drawn = generate(keras_hub.samplers.TopKSampler(5, seed=2))
report(history=history.history, greedy=greedy, beam=beam, top_k=[drawn.shape, drawn[:, :4]])
