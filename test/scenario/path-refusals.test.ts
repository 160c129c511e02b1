import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { PlanDocument } from '../../src/lib/upgrade/plan/plan-document.ts'
import { knownReleases } from '../../src/lib/releases/releases.ts'
import { readSchema, validate } from '../lib/docs/json-schema.ts'
import { all, along, inFolder, onePointFive, store } from './path.ts'
import { play, type Stage } from './stage.ts'

const few = { ...onePointFive, workers: 1, vms: 0 }

const folder = 'docs/schema'
const schemas = new Map(
  readdirSync(folder).flatMap((name) =>
    name.endsWith('.json') ? [[name, readSchema(folder, name)] as const] : [],
  ),
)

const planned = async (stage: Stage, options = {}) =>
  stage.plan(
    'v1.8.4',
    { manifest: undefined as never, ...inFolder, ...options },
    { commandLine: 'kvup plan --to v1.8.4 --manifest-base releases' },
  )

function documentOf({ documents }: Awaited<ReturnType<typeof planned>>): PlanDocument {
  const [document] = documents as unknown as PlanDocument[]
  if (document === undefined) throw new Error('no document')
  expect(validate({ ...document, status: 'complete' }, 'upgrade-plan.json', schemas)).toEqual([])
  return document
}

describe('--via', () => {
  test('names the releases between', () =>
    play(few, async (stage) => {
      store(stage, ...all, 'v1.6.0', 'v1.7.0')
      const via = 'v1.6.0,v1.7.0'
      const refused = await along(stage, { via })
      expect(refused).toMatchObject({ code: 3, error: { reason: 'issue-15373' } })
      expect(refused.text).toContain('--accept issue-15373')
      const document = documentOf(await planned(stage, { via, accept: ['issue-15373'] }))
      expect(document.path?.steps.map(({ from, to }) => `${from} ${to}`)).toEqual([
        'v1.5.2 v1.6.0',
        'v1.6.0 v1.7.0',
        'v1.7.0 v1.8.4',
      ])
    }))

  const refused = [
    ['v1.7.4', 'from v1.5.2 to v1.7.4 skips v1.6'],
    ['v1.6.6', 'from v1.6.6 to v1.8.4 skips v1.7'],
    ['v1.6.0,v1.6.6,v1.7.4', 'from v1.6.0 to v1.6.6 is within one minor'],
    ['v1.7.4,v1.6.6', 'from v1.7.4 to v1.6.6 goes back'],
    ['v1.5.3,v1.6.6,v1.7.4', 'from v1.5.2 to v1.5.3 is within one minor'],
    ['v1.8.4', '--via names no release between'],
    ['1.6', 'is not a full version: use, for example, v1.8.4'],
  ] as const

  test('what is no path is refused, with another method as well, and nothing is written', () =>
    play(few, async (stage) => {
      for (const [via, why] of refused) {
        const ended = await along(stage, { via })
        expect([via, ended.code, ended.text]).toEqual([via, 2, expect.stringContaining(why)])
      }
      for (const options of [{ method: 'olm' }, { follow: true }] as const) {
        const typed = { via: 'v1.6.6,v1.7.4', manifestBase: undefined as never, ...options }
        expect(await along(stage, typed)).toMatchObject({ code: 2, error: { reason: 'contradiction' } })
      }
      expect(stage.writes()).toEqual([])
    }))

  test('where there is one step only it is refused', () =>
    play({ ...few, version: 'v1.7.4' }, async (stage) => {
      const ended = await along(stage, { via: 'v1.7.0' })
      expect(ended).toMatchObject({ code: 2, error: { reason: 'not-on-path' } })
    }))
})

describe('what is known to forbid a later step ends the path before it', () => {
  test('no manifest of it: the step and the file are named, and the line to the release before it works', () =>
    play(few, async (stage) => {
      store(stage, 'v1.6.6', 'v1.8.4')
      const { mark } = stage
      const ended = await along(
        stage,
        {},
        { commandLine: 'kvup upgrade --to v1.8.4 --manifest-base releases' },
      )
      expect(ended).toMatchObject({ code: 3, error: { reason: 'manifest-missing' } })
      expect(ended.text).toContain('the upgrade path ends at v1.6.6: v1.7 is refused')
      expect(ended.text).toContain('releases/v1.7.4/kubevirt-operator.yaml')
      expect(ended.text).toContain('kvup upgrade --manifest-base releases --to v1.6.6')
      expect(ended.text).not.toContain('--accept')
      expect(stage.writes(mark)).toEqual([])
      const { path, next, findings } = documentOf(await planned(stage))
      expect(path?.steps.map(({ to }) => to)).toEqual(['v1.6.6'])
      expect(path?.ends?.before).toBe('v1.7')
      expect(next).toEqual([])
      expect(findings[0]?.id).toBe('manifest-missing')
    }))

  test('a release of --via whose manifest is not there', () =>
    play(few, async (stage) => {
      store(stage, ...all)
      const ended = await along(stage, { via: 'v1.6.6,v1.7.0' })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'manifest-missing' } })
      expect(ended.text).toContain(
        'v1.7.0 is refused: cannot read the manifest releases/v1.7.0/kubevirt-operator.yaml',
      )
    }))

  test('the first step without a manifest is a mistake of the line', () =>
    play(few, async (stage) => {
      store(stage, 'v1.7.4', 'v1.8.4')
      const ended = await along(stage)
      expect(ended).toMatchObject({ code: 2, error: { reason: 'manifest-missing' } })
      expect(ended.text).toContain('releases/v1.6.6/kubevirt-operator.yaml')
    }))

  test('a release that does not support this Kubernetes; accepted by name, the whole path is planned', () =>
    play(few, async (stage) => {
      store(stage, ...all)
      const { minors } = knownReleases
      const later = { ...minors, 'v1.8': { ...minors['v1.8'], kubernetes: ['1.36', '1.38'] } }
      stage.files.set('releases.json', JSON.stringify({ ...knownReleases, minors: later }))
      const releases = 'releases.json'
      const ended = await along(stage, { releases })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'kubernetes-window' } })
      expect(ended.text).toContain(
        'the upgrade path ends at v1.7.4: v1.8.4 is refused: Kubernetes 1.35 is too old',
      )
      const { path } = documentOf(await planned(stage, { releases }))
      expect(path?.steps.map(({ to }) => to)).toEqual(['v1.6.6', 'v1.7.4'])
      const whole = documentOf(await planned(stage, { releases, accept: ['kubernetes-window'] }))
      expect(whole.path?.steps).toHaveLength(3)
      expect(whole.path?.ends).toBeUndefined()
    }))
})

test('what is of one release is not of a path; a checksum for each manifest: a wrong one ends before anything is written', () =>
  play(few, async (stage) => {
    store(stage, ...all)
    const f = 'f'.repeat(64)
    for (const [options, why] of [
      [{ manifest: 'v1.8.4.yaml' }, '--manifest is of one release'],
      [{ backup: 'old.yaml' }, '--backup is of one release'],
      [{ manifestSha256: f }, '--manifest-sha256 is of one release'],
    ] as const) {
      const ended = await along(stage, options)
      expect([ended.code, ended.text]).toEqual([2, expect.stringContaining(why)])
    }
    for (const [sums, reason] of [
      [all.map((version) => `${version}=${f}`).join(','), 'manifest-checksum'],
      [`v1.6.0=${f}`, 'manifest-checksum-missing'],
    ] as const)
      expect(await along(stage, { manifestSha256: sums })).toMatchObject({ code: 2, error: { reason } })
    expect(stage.writes()).toEqual([])
  }))

test('of a minor the newest release that the folder has, and none with a known issue where there is another', () =>
  play(few, async (stage) => {
    store(stage, 'v1.6.0', 'v1.6.2', 'v1.7.0', 'v1.8.4')
    const { path } = documentOf(await planned(stage))
    expect(path?.steps.map(({ to }) => to)).toEqual(['v1.6.2', 'v1.7.0', 'v1.8.4'])
    stage.files.delete('releases/v1.6.2/kubevirt-operator.yaml')
    expect(await planned(stage)).toMatchObject({ code: 3, error: { reason: 'issue-15373' } })
  }))

test('a dry run says what each step would do, and that later ones follow the first', () =>
  play(few, async (stage) => {
    store(stage, ...all)
    const { mark } = stage
    const ended = await along(stage, { dryRun: 'server' })
    expect(ended.code).toBe(0)
    const states = new Map(documentOf(ended).steps.map(({ id, state }) => [id, state]))
    expect(states.get('apply-operator-manifest-v1.6.6')).toBe('would-change')
    expect(states.get('apply-operator-manifest-v1.7.4')).toBe('depends')
    expect(states.get('gate-v1.8.4')).toBe('depends')
    expect(ended.text).toContain('planned again once KubeVirt is at v1.7.4')
    expect(stage.writes(mark)).toEqual([])
  }))
