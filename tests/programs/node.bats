#!/usr/bin/env bats
# node and npm, twice. Nothing here asks a registry: packages come from folders and tarballs.

load twin

setup() {
	require_tool node
	setup_twin
	export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_offline=true NO_COLOR=1
	TWIN_VARIES=('*/.package-lock.json')
}

make_package() { # DIRECTORY NAME
	mkdir -p "$1/bin"
	cat >"$1/package.json" <<END
{ "name": "$2", "version": "1.2.3", "main": "index.js", "bin": { "$2": "bin/run.js" },
  "scripts": { "postinstall": "node postinstall.js", "test": "node -e \"console.log('tested')\"" } }
END
	echo "module.exports = () => '$2 speaks'" >"$1/index.js"
	printf '#!/usr/bin/env node\nconsole.log(require("..")(), process.argv.slice(2).join())\n' >"$1/bin/run.js"
	chmod 755 "$1/bin/run.js"
	cat >"$1/postinstall.js" <<'END'
const fs = require('fs'), path = require('path'), { execFileSync } = require('child_process')
fs.writeFileSync(path.join(__dirname, 'built.txt'), execFileSync('sh', ['-c', 'echo built by $npm_package_name']))
fs.mkdirSync(path.join(__dirname, 'build'), { recursive: true })
fs.rmSync(path.join(__dirname, 'build/link'), { force: true }) // npm runs it again for a linked package
fs.symlinkSync('../built.txt', path.join(__dirname, 'build/link'))
END
}

@test "npm install of a local package with a postinstall script, and of one from a tarball" {
	require_tool npm
	make_package "$TWIN/one" one
	make_package "$PROJECT/packed/package" two
	tar -czf "$TWIN/two-1.2.3.tgz" -C "$PROJECT/packed" package
	rm -rf "$PROJECT/packed"
	make_package "$PROJECT/three" three
	cat >"$PROJECT/package.json" <<END
{ "name": "app", "version": "0.0.1", "private": true,
  "scripts": { "start": "one a b && two c && three d", "prestart": "echo before" },
  "dependencies": { "three": "file:./three", "two": "file:$TWIN/two-1.2.3.tgz" } }
END
	twin <<END
set -o pipefail
npm install --foreground-scripts=false 2>&1 | sed 's/ in [0-9.a-z]*\$//'
npm install --install-links "$TWIN/one" 2>&1 | sed 's/ in [0-9.a-z]*\$//'
npm run --silent start
npm ls three two
npm pack --silent ./three
tar -tzf three-1.2.3.tgz | sort
rm three-1.2.3.tgz
cat node_modules/two/built.txt
npm uninstall one 2>&1 | sed 's/ in [0-9.a-z]*\$//'
rm -rf node_modules
npm ci 2>&1 | sed 's/ in [0-9.a-z]*\$//'
ls node_modules node_modules/.bin
END
}

@test "node: files, sync, with callbacks, promises and streams" {
	cat >"$PROJECT/session.mjs" <<'END'
import fs from 'fs'
import fsp from 'fs/promises'
import path from 'path'
import { pipeline } from 'stream/promises'
import zlib from 'zlib'
fs.mkdirSync('a/b/c', { recursive: true })
fs.writeFileSync('a/one', 'one'); fs.appendFileSync('a/one', ' more')
fs.copyFileSync('a/one', 'a/two'); fs.cpSync('a', 'copy', { recursive: true })
fs.symlinkSync('one', 'a/link'); fs.linkSync('a/one', 'a/hard'); fs.renameSync('a/two', 'a/b/two')
fs.chmodSync('a/b/two', 0o640); fs.utimesSync('a/one', 1, 2); fs.truncateSync('a/b/two', 3)
console.log(fs.readFileSync('a/link', 'utf8'), fs.statSync('a/one').mtimeMs, fs.statSync('a/hard').nlink)
console.log(fs.realpathSync('a/link').split('/').pop(), fs.readlinkSync('a/link'), fs.accessSync('a/one', fs.constants.W_OK))
await fsp.writeFile('p', Buffer.alloc(100000, 'x')); await fsp.rename('p', 'q'); await fsp.chmod('q', 0o600)
const h = await fsp.open('q', 'r+'); await h.write('yyy', 10); await h.truncate(50000); await h.sync(); await h.close()
await pipeline(fs.createReadStream('q'), zlib.createGzip(), fs.createWriteStream('q.gz'))
await pipeline(fs.createReadStream('q.gz'), zlib.createGunzip(), fs.createWriteStream('q2', { flags: 'wx', mode: 0o644 }))
console.log(fs.readFileSync('q').equals(fs.readFileSync('q2'))); fs.unlinkSync('q.gz')
console.log(path.basename(fs.mkdtempSync('tmp-')).length); for (const n of fs.readdirSync('.')) if (n.startsWith('tmp-')) fs.rmdirSync(n)
await Promise.all(Array.from({ length: 300 }, (_, i) => fsp.mkdir(`many/${i % 20}`, { recursive: true }).then(() => fsp.writeFile(`many/${i % 20}/${i}`, `${i}`))))
console.log((await fsp.readdir('many', { recursive: true })).length)
await fsp.rm('copy', { recursive: true })
const names = []; for await (const d of await fsp.opendir('a')) names.push(d.name); console.log(names.sort().join())
for (const f of [() => fs.openSync('missing'), () => fs.mkdirSync('a'), () => fs.rmdirSync('a'), () => fs.openSync('a', 'w'), () => fs.readFileSync('a/one/x'),
	() => fs.openSync('a/one', 'wx'), () => fs.unlinkSync('nothing'), () => fs.renameSync('nothing', 'x'), () => fs.readlinkSync('a/one')])
	try { f(); console.log('no error') } catch (e) { console.log(e.code, e.syscall) }
fs.rmSync('session.mjs')
END
	twin <<'END'
node session.mjs
END
}

@test "node: child_process, fs.watch, workers, cluster, http on loopback" {
	cat >"$PROJECT/session.mjs" <<'END'
import { spawn, spawnSync, exec, execFileSync, fork } from 'child_process'
import { Worker, isMainThread, workerData, parentPort } from 'worker_threads'
import { once } from 'events'
import { promisify } from 'util'
import fs from 'fs'
import http from 'http'
import net from 'net'
if (process.argv[2] === 'child') {
	process.on('message', m => { fs.writeFileSync(`child-${m}`, m); process.send(m + ' back'); process.disconnect() })
} else {
	console.log(spawnSync('sh', ['-c', 'echo out; echo err >&2; cat; exit 4'], { input: 'in' }).status)
	console.log((await promisify(exec)('echo $FOO | tr a-z A-Z', { env: { FOO: 'shout', PATH: process.env.PATH } })).stdout.trim())
	console.log(execFileSync('cat', { input: 'through cat' }).toString())
	const p = spawn('sleep', ['100']); p.kill(); console.log((await once(p, 'exit'))[1])
	const gone = spawn('no-such-program'); console.log((await once(gone, 'error'))[0].code)
	const s = spawn('sh', ['-c', 'cat > out.txt; echo x >&3'], { stdio: ['pipe', 'inherit', 'inherit', 'pipe'] })
	s.stdin.end('to a file'); s.stdio[3].on('data', d => console.log('fd 3:', String(d).trim())); await once(s, 'close')
	const f = fork(process.argv[1], ['child']); f.send('message'); console.log((await once(f, 'message'))[0]); await once(f, 'exit')

	fs.mkdirSync('watched'); const w = fs.watch('watched'); const seen = new Set()
	w.on('change', (t, n) => seen.add(n))
	await new Promise(r => setTimeout(r, 50)); fs.writeFileSync('watched/a', '1'); fs.renameSync('watched/a', 'watched/b')
	for (let i = 0; i < 100 && seen.size < 2; i++) await new Promise(r => setTimeout(r, 20))
	w.close(); console.log([...seen].sort().join())

	const code = `const { workerData, parentPort } = require('worker_threads'), fs = require('fs')
		for (let i = 0; i < 50; i++) { fs.writeFileSync('w' + workerData + '-' + i, 'x'); if (i % 2) fs.unlinkSync('w' + workerData + '-' + i) }
		parentPort.postMessage(fs.readdirSync('.').filter(n => n.startsWith('w' + workerData + '-')).length)`
	const counts = await Promise.all([1, 2, 3, 4].map(async n => (await once(new Worker(code, { eval: true, workerData: n }), 'message'))[0]))
	console.log(counts.join())

	const server = http.createServer((q, r) => r.end('hello ' + q.url)).listen(0, '127.0.0.1'); await once(server, 'listening')
	console.log(await (await fetch(`http://127.0.0.1:${server.address().port}/there`)).text()); server.closeAllConnections(); server.close()
	const local = net.createServer(c => c.end('by socket')).listen('socket'); await once(local, 'listening')
	let text = ''; const c = net.connect('socket'); c.on('data', d => { text += d }); await once(c, 'end'); console.log(text); local.close()
	fs.rmSync('session.mjs')
}
END
	twin <<'END'
node session.mjs
END
}
