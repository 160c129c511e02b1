import { expect, test } from 'vitest'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { PlanDocument } from '../../src/lib/upgrade/plan/plan-document.ts'
import { rowOf, stepsThatSet } from '../../src/lib/upgrade/step-traits.ts'
import { workloadsMoved } from '../../src/lib/vms/vms-updated.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { all, inFolder, onePointFive, store } from './path.ts'
import { byManifest, byTag, play, type Stage } from './stage.ts'

type Asked = readonly [what: string, ask: () => Promise<readonly string[]>]

async function stepsOf(
  shape: Parameters<typeof play>[0],
  to: string,
  more: object,
  prepare?: (stage: Stage) => void,
): Promise<readonly string[]> {
  const ids: string[] = []
  await play(shape, async (stage) => {
    prepare?.(stage)
    const { documents } = await stage.upgrade(to, { stableFor: '5s', dryRun: 'client', ...more })
    const [plan] = documents as unknown as PlanDocument[]
    ids.push(...(plan?.steps ?? []).map(({ id }) => id))
  })
  return ids
}

const fleet = {
  'kustomize.toolkit.fluxcd.io/name': 'platform',
  'kustomize.toolkit.fluxcd.io/namespace': 'flux',
}

const small = { workers: 1, controlPlanes: 1, methods: ['LiveMigrate'], method: 'image-tag' } as const
const lifted = { ...small, version: 'v1.8.4' } as const
const pinned = { ...small, version: 'v1.8.3', operator: 'v1.8.4' } as const

const asked: readonly Asked[] = [
  ['by imageTag, until the VMs are moved', () => stepsOf(byTag, 'v1.8.4', { waitWorkloads: true })],
  ['by operator manifest', () => stepsOf(byManifest, 'v1.8.4', {})],
  ['with an imageTag that the operator follows', () => stepsOf(lifted, 'v1.9.0', {})],
  ['with an imageTag that holds the operator back', () => stepsOf(pinned, 'v1.9.0', {})],
  ['by GitOps', () => stepsOf(byTag, 'v1.8.4', { follow: true }, (stage) => stage.label({ labels: fleet }))],
  [
    'by OLM',
    () => stepsOf({ methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }, '1.18.1', {}),
  ],
  [
    'over several minors',
    () =>
      stepsOf(onePointFive, 'v1.8.4', { manifest: undefined, ...inFolder }, (stage) => store(stage, ...all)),
  ],
]

/** They are called as what they wait for. */
const components = /^virt-(?:operator|handler|controller|api|exportproxy|template-[a-z]+)(?:-v\d.*)?$/u

test.each(asked)('each step has its traits: %s', async (_, ask) => {
  const ids = await ask()
  expect(ids.length).toBeGreaterThan(5)
  expect(ids.filter((id) => rowOf(id) === undefined && !components.test(id))).toEqual([])
})

test('a dry run of the wait for VMs depends on every step that sets something', () => {
  const { dependsOn } = workloadsMoved(
    { kind: KubeVirts, ref: { namespace: 'kubevirt', name: 'kubevirt' }, uid: 'u' },
    { who: 'me', follow: false, since: 0 },
  )
  expect(dependsOn?.toSorted()).toEqual(stepsThatSet('version', 'tag', 'no-tag', 'methods').toSorted())
})
