#!/usr/bin/env node
import { keepCompiledCode } from './compile-cache.js'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`error: kvup needs Node 22.19 or newer; this is ${process.versions.node}\n`)
  process.exitCode = 2
} else {
  // `kvup … | head -1` closes the pipe, which is no failure, and a log on a full disk is none of the cluster: an upgrade goes on though
  // nobody reads its story.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', ({ code, message }) => {
      if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return
      process.exitCode ||= 1
      if (stream === process.stdout)
        process.stderr.write(`error: standard output cannot be written: ${message}\n`)
    })
  keepCompiledCode()
  const { main } = await import('../dist/main.js')
  const code = await main(process.argv.slice(2), process)
  process.exitCode = code || process.exitCode
}
