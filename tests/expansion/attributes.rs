struct BiasAdd {
    data_format: String,
    #[attribute("T")]
    dtype: TF_DataType,
}
