module contrast-krm.dev/tools/goyaml

go 1.21.0

require gopkg.in/yaml.v3 v3.0.1
