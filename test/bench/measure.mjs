import { execFileSync, spawn, spawnSync } from 'node:child_process'
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

/**
 * Runs two programs by turns, so that a busy machine slows both, and compares each run with its neighbour: medians in ms, of the
 * time on the clock and of the processors' (user and system). The first pair warms caches and does not count. Throws when one fails.
 */
export function compare(ours, peer, pairs = 15) {
  const runs = Array.from({ length: pairs + 1 }, () => [timed(ours), timed(peer)]).slice(1)
  const middle = (of) => median(runs.map(of))
  return {
    kvup: middle(([one]) => one.wall),
    peer: middle(([, other]) => other.wall),
    ratio: middle(([one, other]) => one.wall / other.wall),
    cpuRatio: middle(([one, other]) => one.cpu / other.cpu),
  }
}

/** The least that it takes of the processors in so many runs, ms: what others do at the same time only adds to it. */
export const leastCpu = (ours, runs) => Math.min(...Array.from({ length: runs }, () => timed(ours).cpu))

/** One run, measured by bash, which knows what a program that has ended took of the processors. */
function timed({ command, args, env = {} }) {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@"'
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bench', command, ...args], {
    env: { ...process.env, LC_ALL: 'C', ...env },
    encoding: 'utf8',
    // Lists of megabytes: what they say is not looked at.
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${status}\n${stderr}`)
  const [wall, user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number)
  return { wall: wall * 1000, cpu: (user + system) * 1000 }
}

/**
 * As `compare`, for runs that take seconds: medians in ms, and of the most memory that each ever had resident, in MB. A program may end
 * with one of the codes `ends`.
 */
export async function weigh(ours, peer, pairs = 3) {
  const runs = []
  for (let pair = 0; pair <= pairs; pair++) runs.push([await weighed(ours), await weighed(peer)])
  const middle = (of) => median(runs.slice(1).map(of))
  const row = (unit, part) => ({
    unit,
    kvup: middle(([one]) => one[part]),
    peer: middle(([, other]) => other[part]),
    ratio: middle(([one, other]) => one[part] / other[part]),
  })
  return { time: row('ms', 'wall'), memory: row('MB', 'megabytes') }
}

/** Its memory is looked at every 20 ms, and the system keeps the highest: only growth in the last 20 ms is missed. */
function weighed({ command, args, env = {}, ends = [0] }) {
  const began = performance.now()
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  let megabytes = 0
  const sampling = setInterval(() => (megabytes = Math.max(megabytes, peakMegabytes(child.pid))), 20)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(sampling)
      if (ends.includes(code)) resolve({ wall: performance.now() - began, megabytes })
      else reject(new Error(`${command} ${args.join(' ')}: exit ${code}\n${stderr}`))
    })
  })
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
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
