import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const program = fileURLToPath(new URL('../../bin/kvup.js', import.meta.url))

/** Where a program is, or nothing. */
export function onPath(name) {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/** The middle one of several runs, ms; the first warms caches and does not count. Throws when one of them fails. */
export async function median(command, args, env = {}, runs = 11) {
  const times = []
  for (let i = 0; i <= runs; i++) {
    const began = performance.now()
    const { status, stderr } = spawnSync(command, args, { env: { ...process.env, ...env }, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${status}\n${stderr}`)
    if (i > 0) times.push(performance.now() - began)
  }
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)]
}

/** The most memory that a process ever had resident so far, MB; 0 when it is gone or the system does not say. */
export function peakMegabytes(pid) {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Math.round(Number(kilobytes ?? 0) / 1024)
  } catch {
    return 0
  }
}
