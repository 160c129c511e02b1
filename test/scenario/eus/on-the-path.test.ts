// 6 s: each way of the operator is another window from its beginning.
import { describe, expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import {
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { servedCatalog } from '../../../src/simulator/olm/catalog-content.ts'
import { strandingOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { play, type Stage } from '../stage.ts'
import { doneSteps, eusRunOn, platformOf, serveFiles, small418 } from './window-stage.ts'

/** The newest release of the operator in the odd minor, 4.19.8, has no edge to 4.20 (ocp 9.15). */
const stranding = { ...small418, olm: strandingOlm() }
const strandingFile = { catalogFile: 'stranding.yaml' }
const serveStranding = ({ files }: Stage) => {
  files.set('stranding.yaml', servedCatalog(strandingOlm(), '4.20'))
}
const without = (...names: ('graphFile' | 'catalogFile')[]) =>
  Object.fromEntries(names.map((name) => [name, undefined])) as object

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const installPlans = ({ simulated }: Stage): readonly InstallPlan[] =>
  simulated.store.list(InstallPlans).items
const approved = (stage: Stage) =>
  installPlans(stage).flatMap(({ spec }) => (spec?.approved ? (spec.clusterServiceVersionNames ?? []) : []))
function installed({ simulated }: Stage): string | undefined {
  const [one]: readonly Subscription[] = simulated.store.list(Subscriptions).items
  return one?.status?.installedCSV
}
const target = (stage: Stage) => platformOf(stage).status?.desired?.version

async function deleteWaiting(stage: Stage): Promise<void> {
  const plan = installPlans(stage).find(({ status }) => status?.phase === 'RequiresApproval')
  if (plan === undefined) throw new Error('no InstallPlan waits')
  await stage.cluster.writer.delete(InstallPlans, plan.metadata)
}

describe('trap 15: the newest operator of the minor in between has no edge on', () => {
  test('the path of the catalog is held to: the dead end is not approved, and deleting its plan lets the window end', () =>
    play(stranding, async (stage) => {
      serveStranding(stage)
      const ended = await eusRunOn(stage, strandingFile)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'plan-off-path' } })
      expect(target(stage)).toBe('4.20.5')
      expect(installed(stage)).toBe(csv('4.19.5'))
      expect(approved(stage)).not.toContain(csv('4.19.8'))
      expect(ended.text).toMatch(/oc -n openshift-cnv delete installplan \S+ {5}lets OLM resolve again/u)
      await deleteWaiting(stage)
      // The way was kept: no file is needed any more.
      expect(await eusRunOn(stage, without('graphFile', 'catalogFile'))).toMatchObject({ code: 0 })
      expect(installed(stage)).toBe(csv('4.20.1'))
      expect(await stage.journal.overrides()).toEqual([])
    }))

  test('where OLM went there by itself the platform is not taken on, unless that is accepted by name', () =>
    play({ ...stranding, olm: strandingOlm({ approval: 'Automatic' }) }, async (stage) => {
      serveStranding(stage)
      const ended = await eusRunOn(stage, strandingFile)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'operator-stranded' } })
      expect(ended.error?.message).toContain(csv('4.19.8'))
      expect(target(stage)).toBe('4.19.14')
      const again = await eusRunOn(stage, { ...strandingFile, until: 'request-4.20' })
      expect(again).toMatchObject({ code: 3, error: { reason: 'operator-stranded' } })
      const accept = ['operator-stranded']
      expect(await eusRunOn(stage, { ...strandingFile, accept, until: 'accepted-4.20' })).toMatchObject({
        code: 0,
      })
      expect(target(stage)).toBe('4.20.5')
    }))

  test('a plan says it before anything is changed', () =>
    play({ ...small418, olm: strandingOlm({ installed: '4.19.8' }) }, async (stage) => {
      serveFiles(stage)
      serveStranding(stage)
      const options = { accept: [], graphFile: 'graph.json', ...strandingFile }
      const ended = await stage.perform((cx) => planEus(cx, options), { commandLine: 'kvup eus plan' })
      expect(ended).toMatchObject({ code: 3 })
      expect(ended.text).toContain('operator-stranded')
    }))
})

describe('what nobody knows is asked about, before anything is written', () => {
  test.each([
    ['catalogFile', 'operator-path-unknown', '--catalog-file'],
    ['graphFile', 'path-unknown', '--graph-file'],
  ] as const)('without --%s: %s', (name, id, flag) =>
    play(small418, async (stage) => {
      const mark = stage.mark
      const ended = await eusRunOn(stage, without(name))
      expect(ended).toMatchObject({ code: 3 })
      expect(ended.text).toContain(flag)
      expect(ended.text).toContain(`--accept ${id}`)
      expect(stage.writes(mark)).toEqual([])
    }),
  )

  test('who took the risk once is asked again at the platform that it is about', () =>
    play(small418, async (stage) => {
      const accept = ['operator-path-unknown']
      await eusRunOn(stage, { ...without('catalogFile'), accept, until: 'operator-4.19' })
      const ended = await eusRunOn(stage, without('catalogFile'))
      expect(ended).toMatchObject({ code: 3, error: { reason: 'operator-path-unknown' } })
      expect(target(stage)).toBe('4.19.14')
      const on = { ...without('catalogFile'), accept, until: 'accepted-4.20' }
      expect(await eusRunOn(stage, on)).toMatchObject({ code: 0 })
      expect(target(stage)).toBe('4.20.5')
    }))

  test('the newest of the minor in between is asked for only by name: it may lead nowhere', () =>
    play(small418, async (stage) => {
      const more = { ...without('graphFile'), until: 'accepted-4.19' }
      expect(await eusRunOn(stage, { ...more, accept: ['path-unknown'] })).toMatchObject({ code: 0 })
      expect(target(stage)).toBe('4.19.17')
    }))
})

const edges: Readonly<Record<string, readonly string[]>> = {
  '4.18.21': ['4.19.9'],
  '4.19.9': ['4.19.14'],
  '4.19.14': ['4.20.5'],
}
const graph = ocp418to420.graph.map((release) => ({
  ...release,
  to: edges[release.version] ?? [],
  conditional: [],
}))
const twice = { ...small418, openshift: { ...ocp418to420, ...small418.openshift, graph } }

test('a sealed plan with two releases of one minor asks for each once', () =>
  play(twice, async (stage) => {
    serveFiles(stage)
    stage.files.set('own.json', servedGraph({ graph }))
    const files = { graphFile: 'own.json', catalogFile: 'catalog.yaml' }
    const options = { accept: [], ...files, toFile: 'plan.yaml' }
    const sealed = await stage.perform((cx) => planEus(cx, options), { commandLine: 'kvup eus plan' })
    expect(sealed.error).toBeUndefined()
    const ended = await eusRunOn(stage, { plan: 'plan.yaml', ...files, until: 'accepted-4.20' })
    expect(ended.error).toBeUndefined()
    const asked = doneSteps(ended).filter((id) => id.startsWith('request-'))
    expect(asked).toEqual(['request-4.19.9', 'request-4.19.14', 'request-4.20'])
    const history = platformOf(stage).status?.history?.map(({ version }) => version)
    expect(history).toEqual(['4.20.5', '4.19.14', '4.19.9', '4.18.21'])
  }))
