//! A small TensorFlow core that loads a plugin the way TensorFlow does.
