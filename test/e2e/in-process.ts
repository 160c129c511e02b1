import type { Context } from '../../src/context.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { openCluster } from '../../src/lib/kube/http/http-cluster.ts'
import { type Clock, systemClock } from '../../src/lib/kube/clock.ts'
import { type Recorded, recordingPrinter } from '../scenario/recording-printer.ts'
import type { Lab } from './lab.ts'

/** The lab's API server as an admin sees it, over HTTP, in this process. */
export function clusterOf(lab: Lab, userAgent = 'kvup/test'): Promise<Cluster> {
  return openCluster(
    { kubeconfig: lab.kubeconfig },
    {
      clock: systemClock,
      random: Math.random,
      env: {},
      onWarning: () => {},
      verbosity: 0,
      userAgent,
    },
  )
}

/** What a run waits after a change for those that come with it: longer pauses are the lock's, and stay as they are. */
const burst = 600

/** The wall clock, but for bursts of changes there is hardly a pause. */
export const briskClock: Clock = {
  now: () => systemClock.now(),
  sleep: (ms, signal) => systemClock.sleep(ms <= burst ? ms / 20 : ms, signal),
}

/** A process of its own on this machine, so that one that was killed is known to be dead; its cluster may die at any call. */
export function processOn(
  cluster: Cluster,
  pid: number,
  clock: Clock = systemClock,
): { cx: Context; said: Recorded } {
  const { printer, recorded } = recordingPrinter(clock)
  const cx: Context = {
    cluster: () => Promise.resolve(cluster),
    elsewhere: () => ({ cluster: () => Promise.resolve(cluster), clock }),
    clock,
    printer,
    prompt: { confirm: () => Promise.resolve(true) },
    signal: new AbortController().signal,
    flags: { output: 'table', headers: true, color: 'never', yes: true, verbosity: 0 },
    world: {
      who: `jane@here`,
      pid,
      host: 'here',
      machine: 'here',
      version: '0.0.0-test',
      commandLine: 'kvup workloads pause-updates',
      isAlive: (other) => other === pid,
      env: {},
      readText: () => Promise.reject(new Error('no files here')),
      writeText: () => Promise.reject(new Error('no files here')),
      readStdin: () => Promise.resolve(''),
      scratchFile: (name) => name,
      randomSuffix: () => '0a1b2c3d',
    },
  }
  return { cx, said: recorded }
}
