module contrast-krm.dev/tools/launcher

go 1.26.0
