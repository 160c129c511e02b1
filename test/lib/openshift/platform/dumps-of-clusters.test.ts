import { describe, expect, test } from 'vitest'
import {
  ago,
  cluster as clusterOf,
  clusterOperators,
  clusterVersion,
  layerIn,
  list,
  pool,
  type Says,
  told,
} from './dumps.ts'

/** Files of `oc get -o yaml` of several clusters in one folder, none of which has an object of another: nothing contradicts. */
const cluster = (parts: Parameters<typeof clusterOf>[0] = {}) =>
  clusterOf({ co: { version: '4.13.6' }, ...parts })

const setting = (value: string) =>
  JSON.stringify({
    apiVersion: 'example.com/v1',
    kind: 'Setting',
    metadata: { name: 'a' },
    spec: { value },
  })

describe('a folder with files of several clusters', () => {
  const born = { creationTimestamp: ago('400d') }
  const made = <T extends { metadata: object }>(object: T) => ({
    ...object,
    metadata: { ...object.metadata, ...born },
  })
  /** The platform of one cluster, as it was three months ago, beside pools and nodes of another. */
  const twoClusters = () => {
    const at = ago('95d')
    const progressing: Says = {
      type: 'Progressing',
      status: 'True',
      since: ago('10m', at),
      message: 'rolls out',
    }
    const history = [
      { version: '4.14.1', state: 'Partial', started: ago('2h', at) } as const,
      { version: '4.13.6', started: ago('400d') },
    ]
    const failing: Says = { type: 'Failing', status: 'True', since: at, message: 'etcd is degraded' }
    const operators = clusterOperators({
      version: '4.14.1',
      versions: { 'machine-config': '4.13.6' },
      says: { 'machine-config': [progressing] },
    })
    return cluster({
      more: {
        'co.yaml': list(...operators.map(made)).replaceAll(ago('30d'), ago('200d')),
        'cv.yaml': JSON.stringify(made(clusterVersion({ history, says: [failing] }))).replaceAll(
          ago('30d'),
          ago('200d'),
        ),
      },
    })
  }

  test('are judged apart, the one with the ClusterVersion first, each by its own moment', async () => {
    const { document, text } = await told(twoClusters())
    expect(document.takenAt).toBe(new Date(ago('95d')).toISOString())
    expect(layerIn(document, 'platform')).toMatchObject({ verdict: 'Degraded', since: ago('95d') })
    expect(text).toContain('etcd is degraded, for 0 s')
    expect(document['earlier']).toMatchObject([{ asOf: '2026-11-20T12:00:00.000Z', otherCluster: true }])
    expect(text).toContain('a dump of another cluster in the same folder')
    expect(text).not.toContain('95d')
  })

  test('operators that another ClusterVersion owns are of another cluster', async () => {
    const owned = structuredClone(clusterOperators({ version: '4.14.1' }))
    const owner = { apiVersion: 'config.openshift.io/v1', kind: 'ClusterVersion', name: 'version' }
    for (const { metadata } of owned) Object.assign(metadata, { ownerReferences: [{ ...owner, uid: 'x' }] })
    const { document } = await told(cluster({ more: { 'co.yaml': list(...owned) } }))
    expect(document['earlier']).toMatchObject([
      { otherCluster: true, files: [expect.stringMatching(/co\.yaml$/u)] },
    ])
    expect(layerIn(document, 'operators')).toMatchObject({ verdict: 'Unknown' })
  })

  test('a machine config pool that was made later is of the same cluster', async () => {
    const infra = { ...pool('infra'), metadata: { ...pool('infra').metadata, creationTimestamp: ago('2d') } }
    const { document } = await told(cluster({ pools: [pool('master'), pool('worker'), infra] }))
    expect(document).not.toHaveProperty('earlier')
  })

  test('what kvup never asks for may stand in it twice, and makes no dump of its own', async () => {
    const { document } = await told(cluster({ more: { 'a.json': setting('1'), 'b.json': setting('2') } }))
    expect(document).not.toHaveProperty('earlier')
  })
})
