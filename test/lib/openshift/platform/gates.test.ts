import { describe, expect, test } from 'vitest'
import type { ConfigMap } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import type { ClusterOperator } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import {
  assessClusterOperators,
  kubeletSkew,
  openGates,
} from '../../../../src/lib/openshift/platform-status.ts'
import { conditions, type Said } from './cluster-version.ts'

const map = (data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x' },
  data,
})

describe('administrators’ gates', () => {
  const key = 'ack-4.18-kube-1.32-api-removals-in-4.19'
  test.each<readonly [string, Record<string, string>, Record<string, string>, number]>([
    ['open', { [key]: 'read this' }, {}, 1],
    ['acknowledged', { [key]: 'read this' }, { [key]: 'true' }, 0],
    ['acknowledged by another word', { [key]: 'read this' }, { [key]: 'yes' }, 1],
    ['of another minor', { 'ack-4.19-x': 'read this' }, {}, 0],
    ['of a minor that begins alike', { 'ack-4.1-x': 'read this' }, {}, 0],
    ['empty, and acknowledged', { [key]: '' }, { [key]: 'true' }, 1],
    ['malformed', { 'ack-4.18': 'read this' }, { 'ack-4.18': 'true' }, 1],
  ])('%s', (_name, gates, acks, open) => {
    expect(openGates(map(gates), map(acks), '4.18')).toHaveLength(open)
  })

  test('none where there are no ConfigMaps; the text is what is to be read', () => {
    expect(openGates(undefined, undefined, '4.18')).toEqual([])
    expect(openGates(map({ [key]: 'read this' }), undefined, '4.18')).toEqual([
      { name: key, text: 'read this' },
    ])
  })
})

const operator = (name: string, said: readonly Said[]): ClusterOperator => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: { name },
  status: { versions: [{ name: 'operator', version: '4.20.1' }], conditions: conditions(said) },
})

const said = (...one: Said) => kubeletSkew({ known: true, items: [operator('kube-apiserver', [one])] })
const byParity = (minor: number) => (minor % 2 === 0 ? 'a window ends here' : 'a window goes on')
const own = 'KubeletMinorVersionUpgradeable: '

describe('trap 17: what the cluster says of the skew decides, not whether a minor is even', () => {
  test('4.23 ends a window, and by parity it goes on: only the cluster knows', () => {
    expect(byParity(23)).toBe('a window goes on')
    const reason = 'KubeletMinorVersionUnsupportedNextUpgrade'
    const no = said('Upgradeable', 'False', `KubeletMinorVersion_${reason}`, `${own}worker-0 is too old`)
    expect(no).toEqual({ is: 'no', reason, message: 'worker-0 is too old' })
    expect(said('Upgradeable', 'True', 'AsExpected', `${own}behind, and supported`)).toEqual({ is: 'yes' })
  })

  test('another cause beside it is left to the ClusterVersion', () => {
    expect(said('Upgradeable', 'False', 'PodSecurityInconsistent_Violation', 'a pod is privileged').is).toBe(
      'yes',
    )
    const both = 'KubeletMinorVersion_KubeletMinorVersionUnsupported::PodSecurity_Violation'
    const words = `${own}worker-0 is too old\nPodSecurityUpgradeable: a pod is privileged`
    expect(said('Upgradeable', 'False', both, words)).toEqual({
      is: 'no',
      reason: 'KubeletMinorVersionUnsupported',
      message: 'worker-0 is too old',
    })
  })

  test('what is not said is not known, and neither yes nor no', () => {
    expect(said('Available', 'True').is).toBe('unknown')
    expect(said('Upgradeable', 'Unknown', 'KubeletMinorVersion_KubeletMinorVersionAhead').is).toBe('unknown')
    expect(said('Upgradeable', 'Unknown', 'NoData').is).toBe('unknown')
    expect(kubeletSkew({ known: true, items: [] }).is).toBe('unknown')
    expect(kubeletSkew({ known: false, why: 'forbidden' })).toMatchObject({
      is: 'unknown',
      message: 'forbidden',
    })
  })
})

test('operators of the platform: version, and what is not as it should be, since when', () => {
  const [good, bad] = assessClusterOperators([
    operator('etcd', [
      ['Available', 'True'],
      ['Progressing', 'False'],
      ['Degraded', 'False'],
    ]),
    operator('machine-config', [
      ['Available', 'False'],
      ['Degraded', 'True', 'PoolError', 'failed to drain'],
      ['Upgradeable', 'False', 'Pool', 'wait'],
    ]),
  ])
  expect(good).toEqual({ name: 'etcd', version: '4.20.1', available: true, upgradeable: { is: 'yes' } })
  expect(bad).toMatchObject({
    available: false,
    degraded: { since: '2026-11-20T08:00:00Z', message: 'failed to drain' },
    upgradeable: { is: 'no', reason: 'Pool' },
  })
})
