import { describe, expect, it, test } from 'vitest'
import type { Node } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeApiServers } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { kubeletSkew } from '../../../../src/simulator/openshift/cluster-operators.ts'
import { minute, platform, type Platform } from './platform.ts'

const node = (kubeletVersion: string, index: number): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `worker-${index}` },
  status: { nodeInfo: { kubeletVersion } },
})

const old = (count: number) => Array.from({ length: count }, (_, i) => node('v1.31.7', i))

describe('ocp 3.4: how far kubelets may be behind', () => {
  test.each<readonly [string, number, string, string]>([
    ['4.18', 0, 'True', 'KubeletMinorVersionsSynced'],
    ['4.18', 1, 'False', 'KubeletMinorVersionUnsupportedNextUpgrade'],
    ['4.18', 2, 'False', 'KubeletMinorVersionUnsupportedNextUpgrade'],
    ['4.18', 3, 'False', 'KubeletMinorVersionUnsupported'],
    ['4.19', 1, 'True', 'KubeletMinorVersionSupportedNextUpgrade'],
    ['4.19', 2, 'False', 'KubeletMinorVersionUnsupported'],
    ['4.22', 1, 'False', 'KubeletMinorVersionUnsupportedNextUpgrade'],
    ['4.23', 1, 'True', 'KubeletMinorVersionSupportedNextUpgrade'],
    ['4.23', 2, 'False', 'KubeletMinorVersionUnsupported'],
    ['5.0', 1, 'True', 'KubeletMinorVersionSupportedNextUpgrade'],
    ['5.1', 2, 'True', 'KubeletMinorVersionSupportedNextUpgrade'],
    ['5.2', 2, 'False', 'KubeletMinorVersionUnsupportedNextUpgrade'],
    ['5.2', 3, 'False', 'KubeletMinorVersionUnsupportedNextUpgrade'],
    ['5.2', 4, 'False', 'KubeletMinorVersionUnsupported'],
    ['4.18', -1, 'Unknown', 'KubeletMinorVersionAhead'],
  ])('%s, %i behind: %s %s', (version, behind, status, reason) => {
    const [major = 0, minor = 0] = version.split('.').map(Number)
    const nodes = [node('v1.33.1', 0), node(`v1.${33 - behind}.4`, 1)]
    expect(kubeletSkew({ platform: { major, minor }, server: '1.33.1' }, nodes)).toMatchObject({
      status,
      reason,
    })
  })

  test('names up to three nodes, and counts more', () => {
    const at = { platform: { major: 4, minor: 20 }, server: '1.33.1' }
    expect(kubeletSkew(at, old(1)).message).toContain('Kubelet version (1.31.7) on node worker-0 is')
    expect(kubeletSkew(at, old(3)).message).toContain('on nodes worker-0, worker-1, and worker-2 are')
    expect(kubeletSkew(at, old(4)).message).toContain('on 4 nodes are')
  })
})

async function hop(p: Platform, version: string): Promise<void> {
  await p.desire({ version })
  await p.clock.sleep(75 * minute)
  expect((await p.version()).status.history?.[0]).toMatchObject({ state: 'Completed', version })
}

it('trap 17: two hops with paused workers, and the third minor is blocked until they are unpaused; said as a sum by the ClusterOperator', async () => {
  const p = await platform({ channel: 'eus-4.20' })
  await p.pause('worker', true)
  await p.pause('gpu', true)
  await hop(p, '4.19.14')
  const between = await p.operator('kube-apiserver')
  expect(condition(between, 'KubeletMinorVersionUpgradeable')).toBeUndefined()
  expect(condition(between, 'Upgradeable')).toMatchObject({ status: 'True', reason: 'AsExpected' })
  expect(condition(between, 'Upgradeable')?.message).toMatch(
    /^KubeletMinorVersionUpgradeable: Kubelet versions on 5 nodes/,
  )
  await hop(p, '4.20.3')
  const [server] = await p.reader.list(KubeApiServers)
  expect(condition(server ?? {}, 'KubeletMinorVersionUpgradeable')).toMatchObject({
    status: 'False',
    reason: 'KubeletMinorVersionUnsupportedNextUpgrade',
  })
  const reason = 'KubeletMinorVersion_KubeletMinorVersionUnsupportedNextUpgrade'
  expect(condition(await p.operator('kube-apiserver'), 'Upgradeable')).toMatchObject({
    status: 'False',
    reason,
  })
  expect(condition(await p.version(), 'Upgradeable')).toMatchObject({ status: 'False', reason })
  await p.pause('worker', false)
  await p.pause('gpu', false)
  await p.clock.sleep(40 * minute)
  expect(condition(await p.version(), 'Upgradeable')).toBeUndefined()
  expect(new Set((await p.nodes()).map(({ status }) => status?.nodeInfo?.kubeletVersion))).toEqual(
    new Set(['v1.33.1']),
  )
})
