import { describe, expect, test } from 'vitest'
import { standing, type Verdict } from '../../src/lib/facts/standing.ts'
import { type Line, moments, type Replay, transcript } from './to-snapshots.ts'

/** Between `change` and `done` (both notes of the recording) the real virt-operator was at work. */
interface Case {
  name: string
  change: RegExp
  done: RegExp
}

const cases: readonly Case[] = [
  { name: 'operator-v1.7.0-v1.8.4', change: /^kubectl apply/, done: /^done/ },
  { name: 'imagetag-v1.7.0-v1.8.4', change: /^patch spec.imageTag v1.8.4/, done: /^done/ },
  { name: 'badtag-v1.8.4-v1.8.5', change: /^patch spec.imageTag v1.8.5/, done: /^done/ },
  { name: 'oldop-v1.7.0-v1.8.4', change: /^patch spec.imageTag v1.8.4/, done: /^done/ },
  { name: 'workloads-v1.7.0-v1.8.4', change: /^operator manifest v1.8.4 applied/, done: /^updated/ },
]

interface Judged {
  line: Line
  verdict: Verdict
}

function judged(name: string, leases: Replay['leases']): Judged[] {
  return [...moments(transcript(name), { leases })].map(({ line, snapshot }) => ({
    line,
    verdict: standing(snapshot, new Date(line.at)).verdict,
  }))
}

/**
 * The first line that carries what was asked for: the note is written before the command that follows it runs, or
 * after, and a generation that went up is the API server's own word for it.
 */
function changedAt(lines: readonly Judged[], note: number): number {
  const generations = new Map<string, number>()
  for (const [index, { line }] of lines.entries()) {
    const { object } = line
    if (object?.kind !== 'KubeVirt' && object?.metadata.name !== 'virt-operator') continue
    const key = `${object.kind}/${object.metadata.name}`
    const before = generations.get(key) ?? 1
    const now = object.metadata.generation ?? 0
    generations.set(key, now)
    if (index > note && now > before) return index
  }
  throw new Error('the transcript shows no change')
}

/** The note comes with the next poll of half a second: done was the CR's last write before it. */
function doneAt(lines: readonly Judged[], note: number): number {
  return lines.findLastIndex(({ line }, index) => index < note && line.object?.kind === 'KubeVirt')
}

describe.each(['from events', 'unknown'] as const)('with Leases %s', (leases) => {
  describe.each(cases)('$name', ({ name, change, done }) => {
    const lines = judged(name, leases)
    const noted = (pattern: RegExp) => lines.findIndex(({ line }) => pattern.test(line.note ?? ''))
    const from = changedAt(lines, noted(change))
    const to = doneAt(lines, noted(done))

    test('is Settled before the change', () => {
      expect(lines[from - 1]?.verdict).toBe('Settled')
    })

    test('is never Settled between the change and done', () => {
      expect(to - from).toBeGreaterThan(10)
      const settled = lines.slice(from, to).filter(({ verdict }) => verdict === 'Settled')
      expect(settled.map(({ line }) => `${line.t} ${line.object?.kind}`)).toEqual([])
    })

    test('is Settled from done on', () => {
      const until = lines.findIndex(({ line }, index) => index > to && /^(methods|end)/.test(line.note ?? ''))
      const after = lines.slice(to, until).filter(({ verdict }) => verdict !== 'Settled')
      expect(until).toBeGreaterThan(to)
      expect(after.map(({ line }) => `${line.t} ${line.object?.kind}`)).toEqual([])
    })

    test('has not been Settled during the installation', () => {
      const installed = lines.findIndex(({ line }) => {
        const status = (line.object as { status?: { observedGeneration?: number } } | undefined)?.status
        return line.object?.kind === 'KubeVirt' && status?.observedGeneration !== undefined
      })
      expect(installed).toBeGreaterThan(20)
      expect(lines.slice(0, installed).filter(({ verdict }) => verdict === 'Settled')).toEqual([])
    })
  })
})

test('lab Seen 3, 16: an edit of the methods alone is Updating for its seconds of Available=False, never Degraded', () => {
  const lines = judged('workloads-v1.7.0-v1.8.4', 'from events')
  const from = lines.findIndex(({ line }) => line.note === 'methods [LiveMigrate]')
  const until = lines.findIndex(({ line }) => line.note?.startsWith('methods [LiveMigrate, Evict]'))
  const seen = lines.slice(from, until).map(({ verdict }) => verdict)
  expect(new Set(seen)).toEqual(new Set(['Settled', 'Updating']))
  expect(seen.at(-1)).toBe('Settled')
})

test('lab Seen 5: a wrong tag is Stalled within 30 s of the failing pull, and names pod and image', () => {
  const all = [...moments(transcript('badtag-v1.8.4-v1.8.5'), { leases: 'from events' })]
  const pull = all.find(({ line }) => JSON.stringify(line.object ?? '').includes('ErrImagePull'))
  if (!pull) throw new Error('no failing pull in the transcript')
  const at = (seconds: number) => standing(pull.snapshot, new Date(Date.parse(pull.line.at) + seconds * 1000))
  expect(at(0).verdict).toBe('Updating')
  expect(at(30).verdict).toBe('Stalled')
  expect(at(30).why.map((cause) => cause.sentence)).toEqual([
    expect.stringMatching(
      /^pod kubevirt-f7d28d\S+ of the install strategy cannot pull quay.io\/kubevirt\/virt-operator:v1.8.5: not found$/,
    ),
  ])
})

test('lab Seen 13: an operator that may not grant the new rights is Degraded after a minute, and the rights are named', () => {
  const all = [...moments(transcript('oldop-v1.7.0-v1.8.4'), { leases: 'from events' })]
  const failed = all.find(({ line }) => JSON.stringify(line.object ?? '').includes('DeploymentFailed'))
  if (!failed) throw new Error('no DeploymentFailed in the transcript')
  const at = (seconds: number) =>
    standing(failed.snapshot, new Date(Date.parse(failed.line.at) + seconds * 1000))
  expect(at(30).verdict).toBe('Updating')
  expect(at(61).verdict).toBe('Degraded')
  const [cause] = at(61).why
  expect(cause?.kind).toBe('forbidden')
  expect(cause?.sentence).toContain(
    'kubevirt.io:admin is forbidden, rights on backup.kubevirt.io are missing',
  )
  expect(cause?.look).toContain('kvup upgrade --to v1.8.4 --method operator-manifest')
})
