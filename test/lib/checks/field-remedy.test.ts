import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/lib/checks/check-definition.ts'
import { allChecks, runChecks } from '../../../src/lib/checks/check-run.ts'
import type { Writer } from '../../../src/lib/kube/cluster.ts'
import type { KubeVirt } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { jsonPatched, mergePatched } from '../../../src/lib/kube/patch.ts'
import { commandOf } from '../../../src/lib/kube/shell-line.ts'
import { nobody } from '../../../src/lib/kubevirt/snapshot.ts'
import type { FullSnapshot } from '../../../src/lib/kubevirt/full-snapshot.ts'
import { bringsField } from '../../../src/lib/releases/kubevirt-fields.ts'
import { latestPatch } from '../../../src/lib/releases/releases.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import { kubeVirtDefinition } from '../../../src/simulator/virt-operator/kubevirt-crds.ts'
import { kubeVirtVersioning } from '../../../src/simulator/api/kinds/kubevirt-schema.ts'
import { upgradeFindings } from '../../../src/lib/upgrade/upgrade-findings.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { simulate } from '../../../src/simulator/simulated-cluster.ts'
import { crd, known, ofVersion, question } from './evidence.ts'
import { nodes, tally, wholeCluster } from './whole-cluster.ts'
import fixture from './field-remedy.json' with { type: 'json' }

const minors = ['v1.2', 'v1.3', 'v1.4', 'v1.5', 'v1.6', 'v1.7', 'v1.8', 'v1.9']
const releases = minors.map((minor) => latestPatch(minor)?.text ?? '')

/** What relies on defaults, has gates of before, or lists what it wants. */
const configurations: readonly Record<string, unknown>[] = fixture.configurations

const { owners } = fixture

const old = { kubeletVersion: 'v1.34.6', containerRuntimeVersion: 'containerd://2.1.5' }

/** Nodes that are too old for ImageVolume, VMs with hotplugged volumes and with a device of a network, an image that may not be pulled. */
function snapshotOf(
  installed: string,
  configuration: Record<string, unknown>,
  metadata: object,
): FullSnapshot {
  const found = wholeCluster({
    nodes: known(...nodes({ 'worker-1': (node) => Object.assign(node.status ?? {}, { nodeInfo: old }) })),
    instances: known(
      tally({
        running: 1,
        hotplugged: new Set(['demo/a/disk']),
        networks: new Map([['demo/net', { count: 1, names: ['demo/a'] }]]),
      }),
    ),
    vms: known({ total: 1, restartRequired: nobody(), hotplugged: new Set<string>() }),
    networkDevices: known({ name: 'demo/net', resource: 'example.com/vf' }),
  })
  const snapshot = ofVersion(installed, { ...found, instances: known(), vms: known() })
  const [kubevirt] = snapshot.kubevirts.known ? snapshot.kubevirts.items : []
  if (kubevirt === undefined) throw new Error('no KubeVirt')
  const owned = {
    ...kubevirt,
    metadata: { ...kubevirt.metadata, ...metadata },
    spec: { ...kubevirt.spec, configuration },
  }
  return {
    ...snapshot,
    instances: found.instances,
    vms: found.vms,
    kubevirts: known(accepted(installed, owned)),
  }
}

/** As the API server of that release stores it. */
function accepted(installed: string, kubevirt: KubeVirt): KubeVirt {
  return kubeVirtVersioning(kubeVirtDefinition(installed)).accept(kubevirt, KubeVirts.apiVersion)
}

function findingsOf(snapshot: FullSnapshot, target: string): readonly Finding[] {
  const checks = allChecks.filter(({ group }) => group !== 'rights')
  return runChecks(checks, question({ snapshot, target, method: 'image-tag' })).flatMap(
    ({ findings }) => findings,
  )
}

const patched = /^kubectl -n \S+ patch (\S+) \S+ --type=(json|merge) -p '(.*)'$/su

/** The KubeVirt behind a printed line; undefined where the server refuses the line. */
function typed(line: string, kubevirt: KubeVirt): unknown {
  const [, , type, text = ''] = patched.exec(commandOf(line)) ?? []
  const patch: unknown = JSON.parse(text.replaceAll(String.raw`'\''`, "'"))
  return type === 'json' ? jsonPatched(kubevirt, patch as []) : mergePatched(kubevirt, patch)
}

const patchesKubeVirt = (line: string): boolean => patched.exec(commandOf(line))?.[1] === 'kubevirt'

/** Each with the list that it stands in. */
const gatesIn = (kubevirt: unknown): readonly string[] =>
  [...JSON.stringify(kubevirt).matchAll(/"(disabledF|f)eatureGates":\[([^\]]*)\]/gu)].flatMap(
    ([, list = '', gates = '']) => gates.split(',').map((gate) => list + gate),
  )

const asked = releases.flatMap((installed, at) =>
  releases
    .slice(at + 1, at + 3)
    .flatMap((target) => configurations.map((configuration) => ({ installed, target, configuration }))),
)

describe('what a remedy writes to the KubeVirt', () => {
  test.each(asked)(
    'is kept by $installed, does what its finding says to $target, and no more: $configuration',
    ({ installed, target, configuration }) => {
      const snapshot = snapshotOf(installed, configuration, {})
      const [kubevirt] = snapshot.kubevirts.known ? snapshot.kubevirts.items : []
      if (kubevirt === undefined) throw new Error('no KubeVirt')
      const found = findingsOf(snapshot, target)
      for (const { id, summary, remedy } of found)
        for (const line of remedy.filter(patchesKubeVirt)) {
          const wanted = typed(line, kubevirt) as KubeVirt
          const stored = accepted(installed, wanted)
          expect(stored).toEqual(wanted)
          const left = findingsOf({ ...snapshot, kubevirts: known(stored) }, target)
          expect(left.map((one) => one.summary)).not.toContain(summary)
          const named = `${summary} ${id === 'network-resources' ? 'ExternalNetResourceInjection' : ''}`
          const added = gatesIn(stored).filter((gate) => !gatesIn(kubevirt).includes(gate))
          expect(added.filter((gate) => !named.includes(gate.split('"')[1] ?? ''))).toEqual([])
        }
      // Pasted behind one another none takes back what the other did: where that would be so the server refuses the second.
      const lines = found.flatMap(({ remedy }) => remedy).filter(patchesKubeVirt)
      const pairs = lines.flatMap((one) => lines.flatMap((other) => (one === other ? [] : [[one, other]])))
      const lost = pairs.flatMap(([first = '', second = '']) => {
        const before = typed(first, kubevirt) as KubeVirt
        const both = gatesIn(typed(second, before) ?? before)
        return gatesIn(before).filter((gate) => !both.includes(gate))
      })
      expect(lost).toEqual([])
    },
  )

  test.each(Object.entries(owners).slice(1))('is written to %s, who owns it', (_, metadata) => {
    for (const { installed, target, configuration } of asked) {
      const snapshot = snapshotOf(installed, configuration, metadata)
      const lines = findingsOf(snapshot, target).flatMap(({ remedy }) => remedy)
      expect(lines.filter(patchesKubeVirt)).toEqual([])
    }
  })

  test.each(Object.entries(owners).filter(([owner]) => owner !== 'HyperConverged'))(
    'as is what an upgrade by manifest asks for: %s',
    (owner, metadata) => {
      const { installation, ...rest } = question({ snapshot: snapshotOf('v1.8.4', {}, metadata) })
      const found = upgradeFindings({
        ...rest,
        installation: { ...installation, imageRegistry: 'a' },
        request: { to: parseVersion('v1.9.0'), imageRegistry: 'b' },
        method: 'operator-manifest',
        tag: { is: 'none' },
        methods: [],
        forecast: { evacuating: [] },
      } as never).find(({ id }) => id === 'registry-set')
      expect(found?.remedy.map(patchesKubeVirt)).toEqual([owner === 'nobody'])
    },
  )

  test('where HyperConverged has a field, the line names the version that is stored', () => {
    const fields = crd('hyperconvergeds', 'hco.kubevirt.io', ['v1beta1', 'v1'])
    const snapshot = snapshotOf('v1.3.1', {}, owners.HyperConverged)
    const [before, after] = [snapshot, { ...snapshot, crds: known(fields) }].map((one) =>
      findingsOf(one, 'v1.4.1').flatMap(({ remedy }) =>
        remedy.filter((line) => /completionTimeout/u.test(line)),
      ),
    )
    expect(before).toEqual([
      expect.stringMatching(/^set spec\.liveMigrationConfig\.completionTimeoutPerGiB or /u),
    ])
    expect(after).toEqual([
      `kubectl -n kubevirt patch hyperconvergeds.v1beta1.hco.kubevirt.io hco --type=merge -p '{"spec":{"liveMigrationConfig":{"completionTimeoutPerGiB":800}}}'`,
    ])
  })

  test('a field that only a release on the way has is set there', () => {
    const newGates = findingsOf(snapshotOf('v1.7.4', {}, {}), 'v1.9.0').find(({ id }) => id === 'new-gates')
    expect(newGates?.level).toBe('blocker')
    expect(newGates?.remedy.map(commandOf)).toEqual([
      'kvup upgrade --to v1.8.4',
      expect.stringContaining('disabledFeatureGates: ["ImageVolume"]'),
    ])
  })
})

const { apiVersion, kind } = KubeVirts
const at = { name: 'kubevirt', namespace: 'kubevirt' }
const written = (configuration: Record<string, unknown>, name = at.name) => ({
  apiVersion,
  kind,
  metadata: { ...at, name },
  spec: { configuration },
})
const ways: readonly ((writer: Writer, configuration: Record<string, unknown>) => Promise<KubeVirt>)[] = [
  (writer, configuration) => writer.create(KubeVirts, written(configuration, 'second')),
  (writer, configuration) => writer.apply(KubeVirts, written(configuration), { force: true }),
  (writer, configuration) => writer.mergePatch(KubeVirts, at, { spec: { configuration } }),
  (writer, value) => writer.jsonPatch(KubeVirts, at, [{ op: 'add', path: '/spec/configuration', value }]),
]

test.each([
  ['v1.7.4', false],
  ['v1.8.4', true],
])(
  'the simulated API server of %s keeps disabledFeatureGates, however written: %s',
  async (version, kept) => {
    const simulated = await simulate({ clock: new SimClock(), version, workers: 1, controlPlanes: 1 })
    await simulated.stop()
    const { reader, writer } = simulated.cluster()
    for (const write of ways) {
      const developerConfiguration = { disabledFeatureGates: ['ImageVolume'], useEmulation: true }
      const { metadata } = await write(writer, { developerConfiguration })
      const stored = (await reader.list(KubeVirts)).find(({ metadata: { name } }) => name === metadata.name)
      const found = stored?.spec?.configuration?.['developerConfiguration'] as object
      expect(['useEmulation' in found, 'disabledFeatureGates' in found]).toEqual([true, kept])
    }
  },
)

test('fields come with their minors, and what is below them', () => {
  const gates = 'spec.configuration.developerConfiguration.disabledFeatureGates'
  const common = 'spec.configuration.commonInstancetypesDeployment.enabled'
  expect(bringsField(parseVersion('v1.7.4'), gates)).toBe('v1.8')
  expect(bringsField(parseVersion('v1.8.0'), gates)).toBeUndefined()
  expect(bringsField(parseVersion('v1.3.1'), common)).toBe('v1.4')
  expect(bringsField(parseVersion('v1.0.0'), 'spec.configuration.migrations.network')).toBeUndefined()
})
