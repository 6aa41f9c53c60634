#!/usr/bin/env bats
# git, twice. .git/config and .git/hooks of a repository that was there before the run are protected (settings.md, docs): what
# writes them is done in a repository that the session makes, where they are ordinary files.

load twin

setup() {
	require_tool git
	setup_twin
	TWIN_VARIES=('*/index' '*/index.lock') # it holds times and inode numbers
}

# Ten commits on two branches.
make_repository() { # DIRECTORY
	local i
	git init -q "$1"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		mkdir -p "$1/src/$((i % 3))"
		seq "$i" 200 >"$1/src/$((i % 3))/file$i"
		git -C "$1" add .
		git -C "$1" commit -q -m "commit $i"
	done
	ln -s src/1 "$1/link"
	printf '#!/bin/sh\n' >"$1/tool" && chmod 755 "$1/tool"
	git -C "$1" add .
	git -C "$1" commit -q -m 'a link and a tool'
	git -C "$1" branch side HEAD~3
}

@test "git init, commits, branches, merges, tags, rebase" {
	twin <<'END'
git init .
git config user.signingkey none
echo one >a; git add a; git commit -m one
git checkout -b side
echo two >b; mkdir d; echo three >d/c; git add .; git commit -m two
git checkout main
echo four >a; git commit -am four
git merge --no-edit side
git tag -a v1 -m 'version 1'
git checkout -b rebased HEAD~1
echo five >e; git add e; git commit -m five
git rebase main
git mv e f; git rm -q b; git commit -m moved
git log --graph --oneline --all
git status --short --branch
git describe
git show --stat
printf '#!/bin/sh\necho hook ran\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
echo six >a; git commit -am six
git fsck --strict
git diff HEAD~2
END
}

@test "git: commits, branches, stash, conflicts in a repository that was there" {
	make_repository "$PROJECT"
	# git branch -D tidies up .git/config, which is protected in a repository that was there
	twin --allow-git-config <<'END'
git status --short
git checkout -q side
echo changed >src/1/file1
git stash
git stash list
git stash pop
echo other >>src/2/file10
git add -A
git commit -qm 'on side'
git merge main || git status --short
git checkout main -- .
git add -A
git commit -q -m merged
git branch topic
git branch -D topic
git cherry-pick --no-commit side~1 || git status --short
git reset -q --hard
git clean -fdx
git log --oneline --all
git reflog
git for-each-ref
git bisect start; git bisect bad; git bisect good HEAD~2; git bisect reset
git grep -c 200
git blame -s src/1/file1 | tail -n 2
git archive HEAD | tar -tf - | sort
END
}

@test "git clone of a local repository, by hard links, by copies, shared, bare and over file://" {
	make_repository "$TWIN/origin"
	# Hard links: a second name inside the write roots for a file outside would be a way to change it, so the link is refused, and
	# git falls back to a copy, whose mode is its own.
	TWIN_VIOLATIONS='file-write-link'
	twin <<END
git clone -q "$TWIN/origin" linked
git clone -q --no-hardlinks "$TWIN/origin" copied
git clone -q --shared "$TWIN/origin" shared
git clone -q --bare "$TWIN/origin" bare.git
git clone -q --depth 2 "file://$TWIN/origin" shallow
git clone -q linked linked-again
find linked copied bare.git -path '*/objects/*' -type f -exec chmod 644 {} +
find linked-again/.git/objects -type f -links 1 | wc -l
cd linked
echo more >more; git add more; git commit -q -m more
git push -q ../bare.git main
git fetch -q ../shallow
git -C ../bare.git log --oneline main
git remote -v | sed 's/ .*//' | sort -u
END
	run -0 find "$TWIN/origin" -newer "$TWIN/session" -type f
	assert_output ''
}

@test "git worktrees and submodules" {
	make_repository "$PROJECT/repository"
	make_repository "$TWIN/module"
	TWIN_VIOLATIONS='file-write-link' # as above
	twin <<END
git clone -q repository copy
cd copy
git worktree add -q ../tree origin/side~1
cd ../tree
echo here >here; git add here; git commit -qm here
git worktree list | sed 's/ .*//'
cd ../copy
git worktree move ../tree ../moved
git worktree remove ../moved
git worktree prune
git worktree list | wc -l
git -c protocol.file.allow=always submodule --quiet add "$TWIN/module" module
git commit -qm 'with a module'
find .git/modules -path '*/objects/*' -type f -exec chmod 644 {} +
git submodule status
git submodule foreach --quiet 'git log --oneline | head -n 1'
END
}

@test "git gc, repack, prune, fsck" {
	make_repository "$PROJECT"
	twin <<'END'
git gc --quiet --prune=now
git count-objects -v | grep -v size
ls .git/objects/pack | wc -l
git commit -q --allow-empty -m 'after gc'
git repack -adq
git prune --expire=now
git pack-refs --all
git reflog expire --expire=now --all
git fsck
git rev-parse HEAD
git verify-pack .git/objects/pack/*.idx
git maintenance run --task=commit-graph
git bundle create -q all.bundle --all
git format-patch -q -2 -o patches HEAD~1
git clone -q all.bundle from-bundle
cd from-bundle
git checkout -q HEAD~3
git am -q ../patches/*.patch
git log --oneline | head -n 3
END
}
