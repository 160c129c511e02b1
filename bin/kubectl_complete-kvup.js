#!/usr/bin/env node
// kubectl and oc start this to complete `kubectl kvup WORDS…`; the last argument is the word to complete. What it says on stderr
// would land in the middle of the line that somebody types, so an old Node is none of its business.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  const { keepCompiledCode } = await import('./compile-cache.js')
  keepCompiledCode()
  const { main } = await import('../dist/main.js')
  // They put candidates on the line as they are, or escape them, as their version is: only those that need no escape are safe.
  process.exitCode = await main(['__complete', '--unquoted', '--', ...process.argv.slice(2)], process)
}
