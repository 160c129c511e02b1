import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { eventually } from './installation.ts'
import type { Lab } from './lab.ts'

/** A line of `lab/watcher.mjs`; `at` in milliseconds since 1970, as all of them. */
type Heard = { at: number } & (KubeVirtNow | WorkloadNow | { stalled: number })

interface KubeVirtNow {
  kind: 'KubeVirt'
  name: string
  deleted?: true
  generation: number
  observedGeneration?: number
  conditions: Readonly<Record<string, string>>
  targetVersion?: string
  observedVersion?: string
  targetId?: string
  observedId?: string
  methods?: readonly string[]
}

interface WorkloadNow {
  kind: 'DaemonSet' | 'Deployment'
  name: string
  deleted?: true
  generation: number
  observedGeneration?: number
  desired: number
  updated: number
  ready: number
  total: number
}

/** When a thing was so without a break until the end; undefined when it was not so at the end. */
type Since = number | undefined

/** What somebody outside saw of an update until a moment, which is the exit of kvup. */
export interface SeenOutside {
  /** KubeVirt's own definition of done, at this version. */
  doneSince: Since
  /** No DaemonSet or Deployment of the namespace was rolling. */
  rolledSince: Since
  /** The methods were these. */
  methodsSince: Since
  /** How long the machine gave the watcher no turn between the last of them and that moment. */
  stalledMs: number
}

export interface Watcher {
  /** Everything that was heard until `exitAt`, judged. */
  observed(version: string, methods: readonly string[], exitAt: number): Promise<SeenOutside>
  /** Whether anything began to roll, or KubeVirt ceased to be done, in the time between; the lines that say so. */
  unrest(version: string, from: number, to: number): Promise<readonly string[]>
  stop(): void
}

/** Starts a process of its own that follows the cluster over HTTP and knows nothing of kvup; resolves once it hears. */
export async function watchFromOutside(lab: Lab): Promise<Watcher> {
  const file = path.join(lab.dir, 'log', 'watcher.ndjson')
  const program = path.join(import.meta.dirname, 'lab/watcher.mjs')
  const child = spawn(process.execPath, [program, lab.dir, file], { stdio: ['ignore', 'ignore', 'inherit'] })
  const heard = async () => parse(await readFile(file, 'utf8').catch(() => ''))
  await eventually('the watcher hears of KubeVirt, its DaemonSet and its Deployments', 30, async () => {
    const kinds = new Set((await heard()).map((line) => ('kind' in line ? line.kind : undefined)))
    return ['KubeVirt', 'DaemonSet', 'Deployment'].every((kind) => kinds.has(kind as 'KubeVirt'))
  })
  return {
    observed: async (version, methods, exitAt) => judge(await heard(), { version, methods, exitAt }),
    unrest: async (version, from, to) => unrestOf(await heard(), version, from, to),
    stop: () => {
      child.kill()
    },
  }
}

const parse = (text: string): readonly Heard[] =>
  text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Heard)

interface Question {
  version: string
  methods: readonly string[]
  exitAt: number
}

/** Pure: what lines of the watcher say of the time until `exitAt`. */
export function judge(lines: readonly Heard[], { version, methods, exitAt }: Question): SeenOutside {
  const rolling = new Set<string>()
  const since: Record<'done' | 'rolled' | 'methods', Since> = {
    done: undefined,
    rolled: undefined,
    methods: undefined,
  }
  const note = (what: keyof typeof since, holds: boolean, at: number) => {
    since[what] = holds ? (since[what] ?? at) : undefined
  }
  const until = lines.filter(({ at }) => at <= exitAt)
  for (const line of until) {
    if ('stalled' in line) continue
    if (line.kind === 'KubeVirt') {
      note('done', isDone(line, version), line.at)
      note('methods', JSON.stringify(line.methods) === JSON.stringify(methods), line.at)
      continue
    }
    if (isRolling(line)) rolling.add(`${line.kind}/${line.name}`)
    else rolling.delete(`${line.kind}/${line.name}`)
    note('rolled', rolling.size === 0, line.at)
  }
  const last = Math.max(since.done ?? exitAt, since.rolled ?? exitAt)
  const stalls = until.filter((line) => 'stalled' in line && line.at >= last)
  return {
    doneSince: since.done,
    rolledSince: since.rolled,
    methodsSince: since.methods,
    stalledMs: stalls.reduce((sum, line) => sum + ('stalled' in line ? line.stalled : 0), 0),
  }
}

function unrestOf(lines: readonly Heard[], version: string, from: number, to: number): readonly string[] {
  return lines.flatMap((line) => {
    if (line.at <= from || line.at > to || 'stalled' in line) return []
    const isUnrest = line.kind === 'KubeVirt' ? !isDone(line, version) : isRolling(line)
    return isUnrest ? [JSON.stringify(line)] : []
  })
}

/** As KubeVirt's own tests define it (lab, "done"). */
const isDone = (now: KubeVirtNow, version: string): boolean =>
  now.deleted !== true &&
  now.conditions['Available'] === 'True' &&
  now.conditions['Progressing'] === 'False' &&
  now.conditions['Degraded'] === 'False' &&
  now.conditions['Created'] === 'True' &&
  now.generation === now.observedGeneration &&
  now.targetVersion === version &&
  now.observedVersion === version &&
  now.targetId === now.observedId

const isRolling = (now: WorkloadNow): boolean =>
  now.deleted !== true &&
  (now.generation !== now.observedGeneration ||
    now.updated < now.desired ||
    now.ready < now.desired ||
    now.total > now.desired)
