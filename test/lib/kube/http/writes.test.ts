import { describe, expect, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachines } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { atVersion } from '../../../../src/lib/kube/object.ts'
import { answered, configMapBody, opened, refuse, reply, serve } from './tiny-server.ts'

const ref = { name: 'x', namespace: 'ns' }
const patch = { data: { a: '1' } }

describe('a write', () => {
  test('that was cut is not repeated, and its outcome is called unknown', async () => {
    const { cluster, asked } = await answered((_, response) => void response.destroy())
    const error = await cluster.writer.mergePatch(ConfigMaps, ref, patch).catch((e: unknown) => e)
    expect(error).toMatchObject({ status: 0, statusReason: 'OutcomeUnknown', exitCode: 8 })
    expect((error as Error).message).toContain('the outcome is unknown')
    expect(asked).toHaveLength(1)
  })

  test('is not repeated after 500', async () => {
    const { cluster, asked } = await answered((_, response) =>
      refuse(response, 500, 'InternalError: webhook failed'),
    )
    await expect(cluster.writer.mergePatch(ConfigMaps, ref, patch)).rejects.toMatchObject({ status: 500 })
    expect(asked).toHaveLength(1)
  })

  test.each([429, 503])('is repeated after %i when the server says when', async (status) => {
    const { cluster, clock, asked } = await answered((_, response, count) =>
      count === 1
        ? refuse(response, status, 'Busy: busy', { 'retry-after': '2' })
        : reply(response, 200, configMapBody('x')),
    )
    await cluster.writer.mergePatch(ConfigMaps, ref, patch)
    expect(asked).toHaveLength(2)
    expect(clock.slept).toEqual([2000])
  })

  test('is not sent again when what it was decided on is old: a long Retry-After, or a machine that was suspended', async () => {
    const { cluster, clock, asked } = await answered((_, response, count) =>
      refuse(response, 429, 'Busy: busy', { 'retry-after': count === 1 ? '25' : '2' }),
    )
    const write = () => cluster.writer.mergePatch(ConfigMaps, ref, patch)
    await expect(write()).rejects.toMatchObject({ status: 429 })
    expect([asked.length, clock.slept]).toEqual([1, []])
    const sleep = clock.sleep.bind(clock)
    clock.sleep = async (ms, signal) => {
      await sleep(ms, signal)
      clock.pass(60_000)
    }
    await expect(write()).rejects.toMatchObject({ status: 429 })
    expect(asked).toHaveLength(2)
  })

  test('that a PodDisruptionBudget forbids for now is the answer, not a reason to wait here', async () => {
    const details = { retryAfterSeconds: 10, causes: [{ reason: 'DisruptionBudget' }] }
    const { cluster, asked } = await answered((_, response) =>
      reply(response, 429, { reason: 'TooManyRequests', message: 'no', details }),
    )
    const pods = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
    const call = { name: 'eviction', method: 'POST' as const, body: {} }
    await expect(cluster.writer.subresource(pods, ref, call)).rejects.toMatchObject({ status: 429 })
    expect(asked).toHaveLength(1)
  })

  test('is signed, and each kind of patch has its type', async () => {
    const {
      cluster: { writer },
      asked,
    } = await answered((_, response) => reply(response, 200, configMapBody('x')))
    await writer.mergePatch(ConfigMaps, ref, patch)
    await writer.jsonPatch(ConfigMaps, ref, [{ op: 'remove', path: '/data' }], 'status')
    await writer.apply(
      ConfigMaps,
      { ...configMapBody('x'), metadata: { ...ref, managedFields: [] } },
      { force: true },
    )
    await writer.apply(ConfigMaps, configMapBody('x'), { manager: 'kubectl' })
    const observed = asked.map(({ headers, query, path }) => [
      headers['content-type'],
      query.toString(),
      path.split('/').at(-1),
    ])
    expect(observed).toEqual([
      ['application/merge-patch+json', 'fieldManager=kvup', 'x'],
      ['application/json-patch+json', 'fieldManager=kvup', 'status'],
      ['application/apply-patch+yaml', 'fieldManager=kvup&force=true', 'x'],
      ['application/apply-patch+yaml', 'fieldManager=kubectl', 'x'],
    ])
    expect(JSON.parse(asked[2]?.body ?? '').metadata).toEqual(ref)
  })
})

describe('a dry run', () => {
  const subresources = atVersion({ ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }, 'v1')

  test('asks for a dry run in every way that servers listen to', async () => {
    const { url, asked } = await serve((_, response) => reply(response, 200, configMapBody('x')))
    const { dryRun } = (await opened(url)).cluster.reviewer
    await dryRun.create(ConfigMaps, configMapBody('x'))
    await dryRun.mergePatch(ConfigMaps, ref, patch)
    await dryRun.apply(ConfigMaps, configMapBody('x'))
    await dryRun.delete(ConfigMaps, ref)
    await dryRun.subresource(subresources, ref, { name: 'restart', method: 'PUT', body: {} })
    expect(asked.map(({ query }) => query.get('dryRun'))).toEqual(Array(5).fill('All'))
    // With a body, a deletion heeds only the body; virt-api heeds only the body for its own calls.
    expect(JSON.parse(asked[3]?.body ?? '')).toMatchObject({ dryRun: ['All'] })
    expect(JSON.parse(asked[4]?.body ?? '')).toMatchObject({ dryRun: ['All'] })
  })

  test('refuses what KubeVirt would really do', async () => {
    const { url, asked } = await serve((_, response) => reply(response, 200, {}))
    const { dryRun } = (await opened(url)).cluster.reviewer
    const call = { name: 'softreboot', method: 'PUT' as const, body: {} }
    await expect(dryRun.subresource(subresources, ref, call)).rejects.toMatchObject({ exitCode: 2 })
    expect(asked).toHaveLength(0)
  })
})
