import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { trimmed } from '../../../src/lib/kube/saved/recording-reader.ts'

const object = (kind: string, more: object): KubeObject => ({
  apiVersion: 'x/v1',
  kind,
  metadata: { name: 'a', ...(more as { metadata?: object }).metadata },
  ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'metadata')),
})

const secret = 'sesame'

/** What is saved of a kind: what must not be in it, and what must. */
test.each<readonly [string, KubeObject, object]>([
  [
    'an InstallPlan without manifests, among which may be Secrets',
    object('InstallPlan', {
      status: {
        phase: 'RequiresApproval',
        bundleLookups: [{ path: secret }],
        plan: [{ resolving: 'b', resource: { kind: 'Secret', name: 's', manifest: secret } }],
      },
    }),
    {
      status: {
        phase: 'RequiresApproval',
        plan: [{ resolving: 'b', resource: { kind: 'Secret', name: 's' } }],
      },
    },
  ],
  [
    'a CSV without texts, permissions and examples',
    object('ClusterServiceVersion', {
      metadata: { annotations: { 'alm-examples': secret, 'olm.properties': '[]' } },
      spec: { version: '1.2.3', replaces: 'b', description: secret, install: { spec: secret }, icon: secret },
      status: { phase: 'Succeeded' },
    }),
    {
      metadata: { name: 'a', annotations: { 'olm.properties': '[]' } },
      spec: { version: '1.2.3', replaces: 'b' },
      status: { phase: 'Succeeded' },
    },
  ],
  [
    'a package without texts',
    object('PackageManifest', {
      status: {
        catalogSource: 'c',
        provider: secret,
        channels: [
          {
            name: 'stable',
            entries: [{ name: 'b' }],
            currentCSVDesc: {
              version: '1.2.3',
              icon: secret,
              annotations: { description: secret, 'olm.skipRange': '<1' },
            },
          },
        ],
      },
    }),
    {
      status: {
        catalogSource: 'c',
        channels: [
          {
            name: 'stable',
            entries: [{ name: 'b' }],
            currentCSVDesc: { version: '1.2.3', annotations: { 'olm.skipRange': '<1' } },
          },
        ],
      },
    },
  ],
  [
    'an Infrastructure without addresses and tags of others',
    object('Infrastructure', {
      spec: { cloudConfig: secret },
      status: {
        controlPlaneTopology: 'External',
        apiServerURL: secret,
        infrastructureName: secret,
        platformStatus: {
          type: 'AWS',
          aws: {
            region: secret,
            resourceTags: [
              { key: 'owner', value: secret },
              { key: 'red-hat-clustertype', value: 'rosa' },
            ],
          },
        },
      },
    }),
    {
      status: {
        controlPlaneTopology: 'External',
        platformStatus: {
          type: 'AWS',
          aws: { resourceTags: [{ key: 'red-hat-clustertype', value: 'rosa' }] },
        },
      },
    },
  ],
  [
    'a ClusterVersion without the id that its vendor knows it by',
    object('ClusterVersion', {
      spec: { clusterID: secret, channel: 'stable-4.18' },
      status: { observedGeneration: 3 },
    }),
    { spec: { channel: 'stable-4.18' }, status: { observedGeneration: 3 } },
  ],
  [
    'a ClusterOperator without what it looks after',
    object('ClusterOperator', { status: { relatedObjects: [secret], extension: secret, versions: [] } }),
    { status: { versions: [] } },
  ],
])('%s', (_name, whole, kept) => {
  const saved = JSON.parse(JSON.stringify(trimmed(whole))) as object
  expect(JSON.stringify(saved)).not.toContain(secret)
  expect(saved).toEqual({ apiVersion: 'x/v1', kind: whole.kind, metadata: { name: 'a' }, ...kept })
})
