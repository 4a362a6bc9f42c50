use std::path::Path;
fn main() {
    let mut args = std::env::args().skip(1);
    let (release, out) = (args.next().unwrap(), args.next().unwrap());
    let mut apis = Vec::new();
    for entry in std::fs::read_dir("generated/ir").unwrap() {
        let path = entry.unwrap().path().join(format!("{release}.json"));
        if let Ok(text) = std::fs::read_to_string(&path) {
            apis.push(sp_ir::Api::from_json(&text).unwrap());
        }
    }
    for (path, text) in sp_layer::generate::generate(&apis) {
        let path = Path::new(&out).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
