#!/usr/bin/env node
// kubectl and oc start this to complete `kubectl kvup WORDS…`; the last argument is the word to complete.
import module from 'node:module'

module.enableCompileCache?.()
const { main } = await import('../dist/main.js')
process.exitCode = await main(['__complete', '--', ...process.argv.slice(2)], process)
