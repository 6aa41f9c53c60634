#!/bin/sh
# Makes the tree of tests/tables/paths.tsv below the directory $1, which is empty or not there.
set -eu
mkdir -p "$1" && cd "$1"
line='new
line'
byte=$(printf 'caf\377')
mkdir -p cwd/dir/sub cwd/out cwd/outer "cwd/sp ace" 'cwd/[id]' cwd/i "cwd/$line" "cwd/$byte" cwd/UP cwd/up cwd/empty cwdx other/dir home/keep/in
for file in cwd/a cwd/x.pem cwd/dir/f cwd/dir/g.pem cwd/dir/sub/x cwd/dir/sub/y.pem cwd/out/f cwd/outer/f 'cwd/sp ace/f' 'cwd/[id]/f' cwd/i/f \
	"cwd/$line/f" "cwd/$byte/f" cwd/UP/f cwd/up/f cwdx/f other/f other/dir/f home/h home/keep/f home/keep/in/f; do
	echo text >"$file"
done
printf '#!/bin/sh\nexit 0\n' >cwd/run && chmod 755 cwd/run
ln -s dir cwd/lrel
ln -s "$PWD/other/dir" cwd/labs
ln -s ../other cwd/lout
ln -s ../cwdx cwd/lpre
ln -s .. cwd/lparent
ln -s / cwd/lroot
ln -s missing/target cwd/ldang
ln -s lcyc2 cwd/lcyc
ln -s lcyc cwd/lcyc2
ln -s a cwd/lfile
ln -s lrel cwd/lchain
ln -s ../out cwd/dir/lup
