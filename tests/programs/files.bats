#!/usr/bin/env bats
# Programs that make, move, copy and change files, twice.

load twin

setup() { setup_twin; }

# A tree with all that a copy can get wrong.
make_mixed() { # DIRECTORY
	mkdir -p "$1/d/e/f" "$1/closed" "$1/empty"
	seq 1000 >"$1/numbers"
	printf 'no newline' >"$1/d/text"
	printf '#!/bin/sh\necho run\n' >"$1/d/run" && chmod 755 "$1/d/run"
	ln "$1/numbers" "$1/d/hard"
	ln -s ../numbers "$1/d/link"
	ln -s nowhere "$1/dangling"
	ln -s d "$1/dlink"
	ln -s loop "$1/loop"
	mkfifo "$1/fifo"
	truncate -s 1M "$1/sparse"
	printf x >"$1/odd name"$'\n'"with newline"
	printf x >"$1/"$'\xff\xfe'
	chmod 600 "$1/d/text"
	chmod 1777 "$1/empty"
	find "$1" -exec touch -h -d 2000-01-01T00:00:00.123456789Z {} +
	touch -d 2001-02-03T04:05:06Z "$1/d/e" "$1/numbers"
	touch -h -d 2002-02-03T04:05:06Z "$1/dangling"
	chmod 555 "$1/closed"
	if command -v setfattr >/dev/null; then setfattr -n user.test -v value "$1/d/text" 2>/dev/null || :; fi
}

@test "tar: 20,000 files, made and extracted" {
	twin <<'END'
mkdir in out
( cd in; for i in $(seq 100); do mkdir $i; ( cd $i; seq 200 | split -l 1 -a 3 ) ; done )
find in -type f | wc -l
tar -cf all.tar --sort=name --mtime=@1000000000 --owner=0 --group=0 --numeric-owner in
sha256sum all.tar
tar -xf all.tar -C out
diff -r in out/in && echo same
tar -df all.tar && echo unchanged
rm -rf in
tar -xzf <(gzip -c all.tar) --strip-components=1 --one-top-level=again
find again -type f | wc -l
rm all.tar; find again -delete; ls
END
}

@test "cp -a, rsync -a, tar, cpio: hard links, symlinks, FIFOs, attributes, sparse files" {
	make_mixed "$PROJECT/mixed"
	cat >"$TWIN/show" <<'END'
find "$1" -printf '%P %y %m %n %s %T@ %l\n' | sed 's/ [0-9]* \([0-9.]* *\)$/ \1/' | sort
if command -v getfattr >/dev/null; then getfattr -R -d "$1" 2>/dev/null | grep -v '^#'; fi
END
	twin <<END
cp -a mixed copied
bash "$TWIN/show" copied | sort
cp -rL mixed/d dereferenced; ls -l dereferenced | sed 1d | sed 's/ .* / /'
cp -al mixed/d linked
cp --remove-destination -v mixed/numbers copied/dangling
cp --reflink=auto -u mixed/numbers copied/numbers; cp -b mixed/numbers copied/d/text; cp --parents mixed/d/e/f -r copied
if command -v rsync >/dev/null; then
	rsync -aHX mixed/ synced
	bash "$TWIN/show" synced
	echo new >mixed/d/new
	rm mixed/d/run
	touch -d 2004-01-01T00:00:00Z mixed/d/new mixed/d # the two runs need not be in the same second
	rsync -aH --delete --backup --backup-dir=../old mixed/ synced
	rsync -a --inplace --append mixed/numbers synced/
	rsync -aH --link-dest=../mixed mixed/ again | tail -n 1
fi
find mixed/d -maxdepth 1 -newer mixed/numbers -exec touch -h -d 2003-02-03T04:05:06Z {} +
tar -cf - mixed | (mkdir tarred; cd tarred; tar -xpf -)
bash "$TWIN/show" tarred/mixed
if command -v cpio >/dev/null; then (cd mixed; find . -print0 | cpio -0 --quiet -pdm ../cpioed); fi
mv mixed moved; mv moved/d/e/f moved/f; mv -T moved/f moved/empty/g; mv -b copied/numbers copied/sparse
install -D -m 640 moved/numbers installed/deep/file; install -d -m 700 installed/dir
ln -sfn d moved/dlink; ln -f moved/numbers moved/again; ln -sr moved/d/text installed/link; readlink installed/link
chmod -R go-w copied; chmod u+w moved/closed; touch -r moved/numbers moved/d/text; truncate -s 5 moved/d/text
rmdir installed/dir; rm -rf copied/d; unlink moved/fifo; mktemp -d here.XXXXXX | sed 's/\..*//'; rmdir here.*
dd if=moved/numbers of=part bs=10 skip=1 seek=2 count=3 conv=notrunc status=none; shred -u part
split -b 1000 moved/numbers piece.; cat piece.* | cmp - moved/numbers; csplit -s moved/numbers 100 200; rm piece.* xx0*
END
}

@test "sed -i, awk, perl, sort with temporary files, tee, xargs, find" {
	seq 20000 | sed 's/$/ line of text/' >"$PROJECT/lines"
	ln -s lines "$PROJECT/link"
	twin <<'END'
cp lines work; chmod 640 work
sed -i 's/line/LINE/' work; sed -i.bak '2d' work; sed --follow-symlinks -i '$d' link; sed -n '1~1000w picked' work
ls -l | sed 1d | cut -c1-10; head -n 2 work
sort -R --random-source=lines lines >shuffled
sort -n -S 50k shuffled -o shuffled; cmp shuffled lines && echo sorted
mkdir t; sort -rn -S 50k -T t --parallel=2 lines --compress-program=gzip | head -n 1; rmdir t; ls "$TMPDIR" | wc -l
awk '{ print $1 > "out." ($1 % 3); if (!($1 % 5000)) print | "cat >&2" } END { close("out.0"); while ((getline l < "out.0") > 0) n++; print n; system("echo from system >sys") }' lines
perl -pi -e 's/text/TEXT/ if $. < 10' work; perl -i.orig -ne 'print unless /^1/' work
perl -MFile::Temp=tempfile -MFile::Copy -MFile::Path -MFile::Find -e 'my ($f, $n) = tempfile(DIR => "."); print $f "perl"; close $f; move($n, "by-perl"); copy("by-perl", "p2"); mkpath("x/y/z"); rmtree("x"); open(my $p, "|-", "cat >piped") or die; print $p "through a pipe"; close $p; chmod 0600, "p2"; utime 1, 2, "p2"; rename "p2", "p3"; link "p3", "p4"; symlink "p3", "p5"; print -s "p5", " ", join(",", sort glob("p*")), "\n"; opendir(my $d, "."); my @n = readdir $d; print scalar(@n), "\n"; open(STDOUT, ">", "redirected"); print "gone\n"; exec "sh", "-c", "echo after exec"'
cat redirected
seq 50 | tee t1 t2 | xargs -n 1 -P 4 -I{} touch many.{}; find . -name 'many.*' -newer lines -exec chmod 600 {} + ; find . -name 'many.*' -size 0 -delete; ls
find . -type f -empty -exec rm {} \; ; find . -maxdepth 1 -name 't?' -fprint found -o -name 'out*' -ok true {} \; </dev/null 2>/dev/null; sort found
printf '%s\n' a b c | join - <(printf '%s\n' b c d) ; comm -12 <(seq 5) <(seq 3 7); paste <(seq 2) <(seq 2); diff <(seq 3) <(seq 2 4) || true
END
}

@test "patch, zip, unzip, ed scripts of vim, compressors" {
	require_tool patch
	seq 100 >"$PROJECT/a"
	twin <<'END'
sed 's/^50$/fifty/; 70d' a >b; diff -u --label a --label b a b >change.patch || true
patch -b <change.patch; patch -R -o back a change.patch; cmp b a; mkdir p; cp back p/a; patch -d p -p0 <change.patch; patch --dry-run back change.patch
sed 's/^50$/FIFTY/' back >conflict; patch conflict change.patch || ls conflict*
if command -v zip >/dev/null; then TZ=UTC0 touch -d 2001-01-01 a b; zip -q -X z.zip a b p/a; zip -q -d z.zip b; unzip -qo z.zip -d unzipped; unzip -l z.zip | awk '{ print $4 }'; rm z.zip; fi
for c in gzip bzip2 xz zstd; do if command -v $c >/dev/null; then cp a c; $c -q -f c; rm -f c; $c -dc c.* | cmp - a; $c -d c.*; rm -f c c.*; fi; done
if command -v vim >/dev/null; then vim -Nu NONE -i NONE -es a <<'VIM' || echo "vim: $?"
%s/fifty/by vim/
1delete
write
write! copy-by-vim
split b
normal Goappended
wq
set writebackup backup backupdir=.
edit a
normal Glast
update
r !echo from the shell
saveas! saved
qa!
VIM
	vim -Nu NONE -i NONE -es -c 'redir! > out | echo "x" | redir END' -c 'mkview! v' -c 'set undofile undodir=.' -c 'normal oundo' -c 'w' -c 'qa!' a || true
	rm -f .*~ *~ v %* .%*
fi
if command -v ed >/dev/null; then printf '1d\n$a\nby ed\n.\nw\nq\n' | ed -s a; fi
ls -A
END
}

@test "the sqlite3 shell, with WAL; databases of others" {
	require_tool sqlite3
	TWIN_VARIES=('*.db')
	twin <<'END'
sqlite3 a.db 'pragma journal_mode=wal; create table t (x); insert into t values (1), (2);'
sqlite3 a.db <<'SQL' >&1 &
pragma busy_timeout=20000;
begin immediate; insert into t select x + 10 from t; commit;
SQL
wait $!
sqlite3 a.db 'select sum(x) from t; pragma wal_checkpoint(truncate); pragma integrity_check;'
sqlite3 a.db '.backup copy.db' '.dump t' '.output listed' 'select * from t;' '.output stdout' '.clone cloned.db' >/dev/null
cat listed; sqlite3 copy.db 'attach "a.db" as a; select count(*) from a.t, main.t; vacuum into "vacuumed.db";'
printf '1,2\n3,4\n' >in.csv; sqlite3 -csv c.db '.import in.csv u' 'select count(*) from u;'; ls
END
}

@test "ssh-keygen, openssl, gpg: keys" {
	require_tool ssh-keygen
	TWIN_VARIES=('key*' '*.pem' '*.sig' 'gnupg/*')
	twin <<'END'
ssh-keygen -q -t ed25519 -N '' -C test -f key; ssh-keygen -y -f key | cmp - <(cut -d' ' -f1,2 key.pub) || cut -d' ' -f1 key.pub
echo text >text; ssh-keygen -q -Y sign -f key -n file text 2>/dev/null; printf 'me %s\n' "$(cat key.pub)" >allowed
ssh-keygen -Y verify -f allowed -I me -n file -s text.sig <text | sed 's/ with .*//'; ssh-keygen -p -q -N secretphrase -f key | tail -n 1; ls -l key* | cut -c1-10; rm allowed
if command -v openssl >/dev/null; then openssl genpkey -algorithm ed25519 -out k.pem 2>/dev/null; openssl pkey -in k.pem -pubout -out p.pem; openssl dgst -sha256 text; openssl enc -aes-256-ctr -pbkdf2 -nosalt -k pass -in text -out text.enc; openssl enc -d -aes-256-ctr -pbkdf2 -nosalt -k pass -in text.enc; fi
END
}

@test "gpg: a key, a signature, an encrypted file, with its agent" {
	require_tool gpg gpgconf
	TWIN_VARIES=('gnupg/*' '*.gpg' '*.asc')
	# The agent's socket must fit into 108 bytes; what the agent leaves depends on when it is asked to go.
	twin <<'END'
export GNUPGHOME=$(mktemp -d "$TMPDIR/g.XXXX"); chmod 700 "$GNUPGHOME"
gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-gen-key 'Test <t@example.com>' ed25519 sign never 2>/dev/null
echo text >text; gpg --batch --quiet --armor --detach-sign text; gpg --verify text.asc text 2>&1 | grep -c 'Good signature'
gpg --batch --quiet --pinentry-mode loopback --passphrase p --symmetric text; gpg --batch --quiet --pinentry-mode loopback --passphrase p -d text.gpg
gpg --list-secret-keys --with-colons | grep -c ^sec; gpgconf --kill all; rm -rf "$GNUPGHOME"
END
}
