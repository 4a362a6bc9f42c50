"""TensorFlow Probability: a Markov chain with HMC, step size adaptation, and NUTS, in a function."""
# packages: tensorflow_probability, tf_keras
# rtol: 1e-2: differences of the last digit grow along a chain

import tensorflow as tf
import tensorflow_probability as tfp
from report import report

tfd = tfp.distributions
target = tfd.MultivariateNormalTriL([1.0, -1.0], tf.constant([[1.0, 0.0], [0.5, 1.0]]))
hmc = tfp.mcmc.HamiltonianMonteCarlo(target.log_prob, step_size=0.3, num_leapfrog_steps=3)
adaptive = tfp.mcmc.SimpleStepSizeAdaptation(hmc, num_adaptation_steps=20)
nuts = tfp.mcmc.NoUTurnSampler(target.log_prob, step_size=0.3, max_tree_depth=4)


@tf.function(autograph=False)
def chain(kernel, steps, trace):
    return tfp.mcmc.sample_chain(
        steps, current_state=tf.zeros([3, 2]), kernel=kernel, num_burnin_steps=5, trace_fn=trace, seed=[1, 2]
    )


states, accepted = chain(hmc, 50, lambda _, results: results.is_accepted)
adapted, step_size = chain(adaptive, 30, lambda _, results: results.new_step_size)
trees, leapfrogs = chain(nuts, 10, lambda _, results: results.leapfrogs_taken)
walk = tfp.mcmc.sample_chain(
    20, tf.zeros([2]), kernel=tfp.mcmc.RandomWalkMetropolis(target.log_prob), trace_fn=None, seed=[3, 4]
)
report(
    states=states, accepted=accepted, adapted=adapted, step_size=step_size, trees=trees, leapfrogs=leapfrogs, walk=walk,
    effective=tfp.mcmc.effective_sample_size(states), reduction=tfp.mcmc.potential_scale_reduction(states),
)
