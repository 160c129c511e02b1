import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/**
 * Runs scripts of package.json, as many at once as there are cores, in the order given: the longest first. What a script printed
 * appears whole when it has ended; exit code 1 when any of them failed.
 */
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const waiting = process.argv.slice(2)
for (const name of waiting) if (!scripts[name]) throw new Error(`package.json has no script ${name}`)

const run = (name) =>
  new Promise((resolve) => {
    const child = spawn(scripts[name], { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk))
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(printed))
      if (code !== 0) {
        process.exitCode = 1
        process.stderr.write(`${name}: failed\n`)
      }
      resolve()
    })
  })

async function worker() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await run(name)
}

await Promise.all(Array.from({ length: availableParallelism() }, worker))
