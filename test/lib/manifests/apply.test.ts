import { expect, test } from 'vitest'
import type { Writer } from '../../../src/lib/kube/cluster.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { applyManifest } from '../../../src/lib/manifests/apply-manifest.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { container, example, liveOperator, owner } from './example.ts'
import fixture from './apply.json' with { type: 'json' }

const key = (kind: string, name: string) => `${kind}/${name}`

/** As much of a server as an apply touches: what is applied becomes what is there. */
function server(initial: KubeObject[] = []) {
  const objects = new Map(initial.map((o) => [key(o.kind, o.metadata.name), o]))
  const calls: string[] = []
  const refusals: ApiError[] = []
  const apply: Writer['apply'] = async (kind, object, options) => {
    calls.push(`apply ${object.kind} ${object.metadata.name}${options?.force ? ' force' : ''}`)
    objects.set(key(kind.kind, object.metadata.name), object)
    return object
  }
  const jsonPatch: Writer['jsonPatch'] = async (kind, ref) => {
    calls.push(`patch ${kind.kind} ${ref.name}`)
    const refused = refusals.pop()
    if (refused) throw refused
    return objects.get(key(kind.kind, ref.name)) as never
  }
  return {
    calls,
    refusals,
    writer: { apply, jsonPatch },
    reader: {
      get: async (kind: { kind: string }, ref: { name: string }) => {
        const object = objects.get(key(kind.kind, ref.name))
        return object ? { is: 'object' as const, object: object as never } : { is: 'absent' as const }
      },
    },
  }
}

const old = () =>
  liveOperator([owner('kubectl', 'Apply')], (d) =>
    Object.assign(container(d), { image: 'x/virt-operator:v1.7.0' }),
  )

test('everything is applied in order, by force; a second time nothing is written', async () => {
  const on = server()
  await applyManifest(example().objects, on)
  expect(on.calls).toEqual(fixture.calls)
  expect(await applyManifest(example().objects, on)).toEqual([])
  expect(on.calls).toHaveLength(7)
})

test('ownership is taken over first, and only what differs is written', async () => {
  const same = example().objects.slice(0, -1)
  const on = server([...same, old()])
  const written = await applyManifest(example().objects, on)
  expect(on.calls).toEqual(['patch Deployment virt-operator', 'apply Deployment virt-operator force'])
  expect(written.map(({ wanted }) => wanted.kind)).toEqual(['Deployment'])
})

test.each([409, 422])('an object that changed meanwhile (%d) is read again', async (status) => {
  const on = server([old()])
  on.refusals.push(new ApiError(status, 'Conflict', 'somebody wrote first'))
  await applyManifest([example().operator], on)
  expect(on.calls).toEqual([
    'patch Deployment virt-operator',
    'patch Deployment virt-operator',
    'apply Deployment virt-operator force',
  ])
})

test('a refusal is not repeated', async () => {
  const on = server([old()])
  on.refusals.push(new ApiError(403, 'Forbidden', 'no'))
  await expect(applyManifest([example().operator], on)).rejects.toThrow('no')
  expect(on.calls).toEqual(['patch Deployment virt-operator'])
})
