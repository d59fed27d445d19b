"$bin/fastsel" bench --size 100000 --seconds 0.02
