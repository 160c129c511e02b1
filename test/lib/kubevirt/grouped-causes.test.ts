import { expect, test } from 'vitest'
import type { Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { groupedCauses, type TroubledPod } from '../../../src/lib/kubevirt/diagnosis/diagnosis.ts'
import { itemsOf } from '../../../src/lib/kube/known.ts'
import type { PodTrouble } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'
import type { UpgradeSnapshot } from '../../../src/lib/kubevirt/installed-components.ts'
import { settled } from './settled.ts'
import fixture from './grouped-causes.json' with { type: 'json' }

const recorded = settled()
const snapshot: UpgradeSnapshot = { ...recorded, at: recorded.at(0) }

const image: PodTrouble = {
  kind: 'image',
  reason: 'ErrImagePull',
  terminal: true,
  message: 'not found',
  image: 'q/v:1',
}
const crash: PodTrouble = {
  kind: 'crash',
  reason: 'CrashLoopBackOff',
  terminal: true,
  message: '5 restarts',
  again: true,
}
const homeless: PodTrouble = {
  kind: 'unschedulable',
  reason: 'Unschedulable',
  terminal: false,
  message: '0/3 nodes.',
}

function troubled(
  component: string,
  trouble: PodTrouble,
  where: { pod?: string; node?: string } = {},
): TroubledPod {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: where.pod ?? `${component}-x`, namespace: 'kubevirt' },
    spec: { ...(where.node && { nodeName: where.node }), containers: [{ name: component }] },
  }
  return { component, pod, trouble }
}
const handlers = (count: number, trouble: PodTrouble) =>
  Array.from({ length: count }, (_, i) =>
    troubled('virt-handler', trouble, { pod: `virt-handler-${i}`, node: `n-${i}` }),
  )
const saying = (found: readonly TroubledPod[], more: Partial<UpgradeSnapshot> = {}) =>
  groupedCauses(found, { ...snapshot, ...more }).map(({ sentence }) => sentence)

test('40 pods with one reason are one line, with their number and three examples', () => {
  const found = [...handlers(20, image), ...handlers(40, { ...image, reason: 'ImagePullBackOff' }).slice(20)]
  const causes = groupedCauses(found, snapshot)
  expect(causes.map(({ sentence }) => sentence)).toEqual([
    'virt-handler on 40 nodes (n-0, n-1, n-10, …) cannot pull q/v:1: not found',
  ])
  expect(causes[0]?.pods).toHaveLength(40)
  expect(causes[0]?.commands).toEqual(['kubectl -n kubevirt describe pod virt-handler-0'])
})

test.each(fixture.groups as unknown as [string, TroubledPod[], string][])('%s', (_name, found, sentence) => {
  expect(saying(found)).toEqual([sentence])
})

test('different images, reasons of the scheduler and events stay apart', () => {
  const other = { ...homeless, message: '0/3 nodes: taint' }
  const mount: PodTrouble = {
    kind: 'not-ready',
    reason: 'FailedMount',
    terminal: false,
    message: 'no secret',
  }
  const found = [
    ...handlers(1, image),
    ...handlers(1, { ...image, image: 'q/w:1' }),
    troubled('virt-api', homeless),
    troubled('virt-api', other),
    troubled('virt-api', mount),
    troubled('virt-api', { ...mount, reason: 'Unhealthy' }),
  ]
  expect(groupedCauses(found, snapshot)).toHaveLength(6)
})

test('the last log line is quoted of any pod of the group, and not twice', () => {
  const found = handlers(3, { ...crash, container: 'virt-handler' })
  const line = { pod: 'virt-handler-1', container: 'virt-handler', text: 'failed to detect kvm' }
  expect(saying(found, { lastLines: [line] })[0]).toMatch(
    /in CrashLoopBackOff \(5 restarts\), last log line: "failed to detect kvm"$/,
  )
  const told = handlers(1, { ...crash, container: 'virt-handler', message: 'ended: failed to detect kvm' })
  expect(saying(told, { lastLines: [{ ...line, pod: 'virt-handler-0' }] })[0]).not.toContain('last log line')
})

test.each<[string, PodTrouble]>(fixture.commands as never)('%s', (command, trouble) => {
  expect(groupedCauses(handlers(1, trouble), snapshot)[0]?.commands).toEqual([command])
})

test('an install strategy that does not come: one command back, but not out of an update that was half-way', () => {
  const found = [troubled('install strategy', image)]
  const back = (one: UpgradeSnapshot) =>
    groupedCauses(found, one)[0]?.commands.filter((line) => line.startsWith('kvup'))
  const { observedKubeVirtVersion } = snapshot.kubevirt.status ?? {}
  expect(back(snapshot)).toEqual([expect.stringMatching(`^kvup upgrade --to ${observedKubeVirtVersion}`)])
  const halfWay = structuredClone(snapshot)
  const [handler] = itemsOf(halfWay.snapshot.daemonsets)
  Object.assign(handler?.metadata.annotations ?? {}, { 'kubevirt.io/install-strategy-identifier': 'other' })
  expect(back(halfWay)).toEqual([])
})
