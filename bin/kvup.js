#!/usr/bin/env node
import module from 'node:module'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`error: kvup needs Node 22.19 or newer; this is ${process.versions.node}\n`)
  process.exitCode = 2
} else {
  // `kvup … | head -1` closes the pipe, which is no failure: an upgrade goes on though nobody reads its story.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    })
  module.enableCompileCache()
  const { main } = await import('../dist/main.js')
  process.exitCode = await main(process.argv.slice(2), process)
}
