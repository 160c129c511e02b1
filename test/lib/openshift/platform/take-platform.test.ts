import { describe, expect, test } from 'vitest'
import { type PlatformPart, takePlatform } from '../../../../src/lib/openshift/platform-status.ts'
import { answering } from './asked-reader.ts'
import { clusterVersion } from './cluster-version.ts'
import { node, pool } from './pools.ts'

const named = (name: string) => ({ metadata: { name } })
const whole = {
  clusterversions: [clusterVersion(), named('other')],
  clusteroperators: [named('etcd')],
  machineconfigpools: [pool('master')],
  nodes: [node('a', ['worker'])],
  configmaps: [named('admin-gates')],
  infrastructures: [named('cluster'), named('other')],
  machinehealthchecks: [named('m')],
  nodehealthchecks: [named('n')],
}

test('each part in one question, all of them by default', async () => {
  const { reader, asked } = answering(whole)
  const taken = await takePlatform(reader)
  expect(asked.toSorted()).toEqual(
    [
      'clusterversions',
      'clusteroperators',
      'machineconfigpools',
      'nodes',
      'configmaps/admin-gates',
      'configmaps/admin-acks',
      'infrastructures',
      'machinehealthchecks',
      'nodehealthchecks',
    ].toSorted(),
  )
  expect(taken).toMatchObject({
    clusterVersion: { known: true, items: [named('version')] },
    infrastructure: { known: true, items: [named('cluster')] },
    adminGates: { known: true, items: [named('admin-gates')] },
    adminAcks: { known: true, items: [] },
  })
  expect(taken.clusterVersion.known && taken.clusterVersion.items).toHaveLength(1)
})

test('only what is wanted is read, and the rest is not known', async () => {
  const { reader, asked } = answering(whole)
  const taken = await takePlatform(reader, { parts: ['pools'] })
  expect(asked).toEqual(['machineconfigpools'])
  expect(taken.clusterVersion).toEqual({ known: false, why: 'not asked for' })
})

describe('what is not there, may not be read, or cannot be told', () => {
  const parts: readonly (readonly [PlatformPart, string])[] = [
    ['clusterVersion', 'clusterversions'],
    ['clusterOperators', 'clusteroperators'],
    ['pools', 'machineconfigpools'],
    ['infrastructure', 'infrastructures'],
    ['machineHealthChecks', 'machinehealthchecks'],
    ['nodeHealthChecks', 'nodehealthchecks'],
  ]
  test.each(parts)('%s: not served is none, 403 is unknown, 500 is thrown', async (part, plural) => {
    expect((await takePlatform(answering({}).reader, { parts: [part] }))[part]).toEqual({
      known: true,
      items: [],
    })
    const forbidden = await takePlatform(answering({ [plural]: 403 }).reader, { parts: [part] })
    expect(forbidden[part]).toEqual({ known: false, why: `${plural}: 403` })
    const broken = takePlatform(answering({ [plural]: 500 }).reader, { parts: [part] })
    await expect(broken).rejects.toMatchObject({ status: 500 })
  })

  test('ConfigMaps that may not be read are unknown', async () => {
    const { reader } = answering({ configmaps: 403 })
    const { adminGates, adminAcks } = await takePlatform(reader, { parts: ['adminGates', 'adminAcks'] })
    expect([adminGates.known, adminAcks.known]).toEqual([false, false])
  })
})

test('of a node stays what tells its pool and how far it is', async () => {
  const large = {
    ...node('a', ['worker']),
    metadata: {
      name: 'a',
      labels: { 'node-role.kubernetes.io/worker': '' },
      annotations: { 'machineconfiguration.openshift.io/state': 'Done', 'k8s.ovn.org/host-addresses': 'x' },
    },
    status: {
      images: [{ names: ['x'] }],
      nodeInfo: { kubeletVersion: 'v1.31.9', osImage: 'x' },
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'MemoryPressure', status: 'False' },
      ],
    },
  }
  const { nodes } = await takePlatform(answering({ nodes: [large] }).reader, { parts: ['nodes'] })
  expect(nodes).toEqual({
    known: true,
    items: [
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          name: 'a',
          labels: { 'node-role.kubernetes.io/worker': '' },
          annotations: { 'machineconfiguration.openshift.io/state': 'Done' },
        },
        spec: {},
        status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.31.9' } },
      },
    ],
  })
})
