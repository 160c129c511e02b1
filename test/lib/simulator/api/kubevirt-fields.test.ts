import { expect, test } from 'vitest'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { seed } from '../../../../src/simulator/api/store.ts'
import { kubeVirtDefinition } from '../../../../src/simulator/virt-operator/kubevirt-crds.ts'
import { freshStore, namespace } from './fixture.ts'

const gates = { featureGates: ['A'], disabledFeatureGates: ['B'] }
const network = { binding: { own: { sidecarImage: 'x', networkAttachmentDefinition: 'y' } } }
const spec = {
  imageTag: 'v1',
  imgTag: 'a typo',
  infra: { nodePlacement: { nodeSelector: { any: 'thing' } } },
  configuration: { developerConfiguration: gates, network, featureGates: ['in the wrong place'] },
}

test.each([
  ['v1.7.4', { featureGates: ['A'] }, /imgTag|wrong place|disabledFeatureGates/u],
  ['v1.8.0', gates, /imgTag|wrong place/u],
])('the API server of %s keeps of a KubeVirt what its CRD has, and no more', (version, kept, gone) => {
  const store = freshStore()
  seed(store, [kubeVirtDefinition(version)])
  const { apiVersion, kind } = KubeVirts
  const made = store.create(KubeVirts, {
    apiVersion,
    kind,
    metadata: { name: 'kubevirt', namespace },
    spec,
  } as never)
  expect(made).toMatchObject({
    spec: {
      imageTag: 'v1',
      infra: spec.infra,
      configuration: { developerConfiguration: kept, network },
    },
  })
  expect(JSON.stringify(made)).not.toMatch(gone)
})
