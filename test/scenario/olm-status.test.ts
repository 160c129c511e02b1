import { expect, test } from 'vitest'
import { status } from '../../src/commands/status/status.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { OperatorConditions, OperatorGroups } from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { StatusDocument } from '../../src/lib/output/views/status.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { contextOf } from '../commands/saved.ts'
import { runText } from '../lib/run-text.ts'
import { isCommand, remediesIn } from './printed-commands.ts'
import { pasteKubectl } from './pasted-kubectl.ts'
import { minute, play, second, type Stage } from './stage.ts'

const okd = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }
const namespace = 'kubevirt-hyperconverged'
const name = 'kubevirt-hyperconverged-operator.v1.17.3'

async function told(stage: Stage, ...flags: string[]): Promise<string> {
  const { code, out } = await runText(['status', ...flags], {
    cluster: stage.cluster,
    clock: stage.clock,
    files: {},
  })
  expect(code).toBe(0)
  return out
}

const pasteAll = async ({ cluster, simulated: { store } }: Stage, text: string) => {
  const lines = remediesIn(text).filter(isCommand)
  for (const line of lines.filter((one) => one.startsWith('kubectl ')))
    await pasteKubectl(line, { cluster, store })
  return lines
}

test('nothing is said of OperatorCondition and OperatorGroup where they let OLM do its work, and channels only if wide', () =>
  play(okd, async (stage) => {
    const text = await told(stage)
    expect(text).not.toMatch(/OLM would|OperatorGroup|channels/u)
    expect(await told(stage, '-o', 'wide')).toContain(
      'channels: stable-v1.19 (1.19.0), stable-v1.18 (1.18.1), ',
    )
    const document = JSON.parse(await told(stage, '-o', 'json')) as StatusDocument
    expect(document.layers?.find(({ layer }) => layer === 'subscription')?.channels).toContainEqual({
      name: 'stable-v1.17',
      newest: '1.17.3',
    })
  }))

test('an installed operator that somebody holds is told before anything is approved', () =>
  play(okd, async (stage) => {
    stage.simulated.faults.set({ held: 'a backup is under way' })
    await stage.until(minute)
    const text = await told(stage)
    expect(text).toMatch(
      /CSV +\+ healthy: .*\n +OLM cannot replace it: an override in its OperatorCondition says HeldByAdministrator: a backup is under way/u,
    )
    expect(await pasteAll(stage, text)).toContain(
      `kubectl -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml`,
    )
  }))

test('olm-real: no moment of a healthy hop is Degraded or Stalled, though OLM says ResolutionFailed, flaps and goes round', () =>
  play(okd, async (stage) => {
    const bad = new Set<string>()
    let looks = 0
    const hop = { isOver: false }
    const running = stage.upgrade('1.18.1', { stableFor: '5s' }).finally(() => (hop.isOver = true))
    while (!hop.isOver) {
      const { overall } = JSON.parse(await told(stage, '-o', 'json')) as StatusDocument
      if (overall && ['Degraded', 'Stalled'].includes(overall.verdict))
        bad.add(`${overall.verdict}: ${overall.because ?? ''}`)
      looks++
      await stage.clock.sleep(2 * second)
    }
    expect(looks).toBeGreaterThan(30)
    expect(await running).toMatchObject({ code: 0 })
    expect([...bad]).toEqual([])
  }))

test('-w tells at once of an OperatorCondition that forbids, and of an OperatorGroup too many', () =>
  play(okd, async ({ cluster, clock, simulated: { store } }) => {
    const { cx, recorded } = contextOf(cluster, clock)
    const stop = new AbortController()
    const watching = status({ ...cx, signal: stop.signal }, { watch: true }).catch((error: unknown) => error)
    const last = () => JSON.stringify(recorded.documents.at(-1))
    await clock.sleep(20 * second)
    await cluster.writer.mergePatch(
      OperatorConditions,
      { name, namespace },
      {
        spec: { overrides: [{ type: 'Upgradeable', status: 'False', reason: 'Held', message: 'a backup' }] },
      },
    )
    await clock.sleep(2 * second)
    expect(last()).toContain('an override in its OperatorCondition says')
    const { apiVersion, kind } = OperatorGroups
    store.create(
      OperatorGroups,
      { apiVersion, kind, metadata: { name: 'second', namespace } },
      { manager: 'jane' },
    )
    await clock.sleep(2 * second)
    expect(last()).toContain('there are 2 (')
    stop.abort(new Error('Ctrl-C'))
    await watching
  }))

test('a second OperatorGroup, or none, is what is wrong', () =>
  play(okd, async (stage) => {
    const { store } = stage.simulated
    const { apiVersion, kind } = OperatorGroups
    store.create(
      OperatorGroups,
      { apiVersion, kind, metadata: { name: 'second', namespace } },
      { manager: 'jane' },
    )
    const text = await told(stage)
    expect(text).toMatch(
      /OperatorGroup +x degraded: there are 2 \(.*second.*\) in namespace kubevirt-hyperconverged/u,
    )
    expect(text).toMatch(/^The cluster is DEGRADED: OperatorGroup: /u)
    await pasteAll(stage, text)
    for (const { metadata } of store.list(OperatorGroups, { namespace }).items)
      store.remove(OperatorGroups, metadata)
    expect(await told(stage)).toContain('degraded: there is none in namespace kubevirt-hyperconverged')
  }))

test.each([
  [403, 'operatorgroups operatorconditions packagemanifests'],
  [503, 'packagemanifests'],
])('answered by %i instead of %s: nothing is told of them, and everything else', (answer, away) =>
  play(okd, async (stage) => {
    const { reader, ...rest } = stage.cluster
    const list: typeof reader.list = (kind, where) =>
      away.split(' ').includes(kind.plural)
        ? Promise.reject(new ApiError(answer, 'Away', `${kind.plural}: no`))
        : reader.list(kind, where)
    const cluster: Cluster = {
      ...rest,
      reader: {
        list,
        get: reader.get.bind(reader),
        pages: reader.pages.bind(reader),
        watch: reader.watch.bind(reader),
        versions: reader.versions.bind(reader),
        version: reader.version.bind(reader),
        log: reader.log.bind(reader),
      },
    }
    const { code, out } = await runText(['status', '-o', 'wide'], { cluster, clock: stage.clock, files: {} })
    expect(code).toBe(0)
    expect(out).not.toMatch(/OLM would|OperatorGroup|channels/u)
    expect(out).toContain('CSV')
  }),
)
