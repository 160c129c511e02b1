import { afterEach, beforeEach, expect, test } from 'vitest'
import { seed, Store } from '../../../../src/simulator/api/store.ts'
import { serveSimulator, type Simulator } from '../../../../src/simulator/api/http-server.ts'
import { ApiFaults } from '../../../scenario/api-faults.ts'
import { systemClock } from '../../../../src/lib/kube/clock.ts'

interface Answer {
  kind?: string
  items?: Group[]
  resources?: { name: string }[]
  metadata?: { managedFields?: { manager: string }[] }
}
interface Group {
  metadata: { name: string }
  versions: { resources: { resource: string; subresources: { subresource: string }[] }[] }[]
}

let store: Store
let faults: ApiFaults
let simulator: Simulator

beforeEach(async () => {
  store = new Store(systemClock)
  faults = new ApiFaults(store)
  const metadata = { name: 'kubevirt', namespace: 'kubevirt', labels: { a: 'b' } }
  const status = { phase: 'Deployed' }
  seed(store, [
    { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata, spec: { imageTag: 'v1' }, status } as never,
  ])
  simulator = await serveSimulator(store, { faults })
})
afterEach(() => simulator.close())

const kubevirts = '/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts'
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }

const call = (path: string, init: RequestInit = {}) => fetch(simulator.url + path, init)
const json = async (path: string, init: RequestInit = {}): Promise<Answer> =>
  (await (await call(path, init)).json()) as Answer

const send = (method: string, type: string, body: unknown): RequestInit => ({
  method,
  headers: { 'content-type': type },
  body: JSON.stringify(body),
})

/** The first events of a watch, as `TYPE name`. */
async function watched(
  path: string,
  count: number,
  init: RequestInit = {},
): Promise<{ type: string; object: never }[]> {
  const stop = new AbortController()
  const { body } = await call(path, { ...init, signal: stop.signal })
  const events: { type: string; object: never }[] = []
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = lines.pop() ?? ''
    events.push(...lines.map((line) => JSON.parse(line) as { type: string; object: never }))
    if (events.length >= count) break
  }
  stop.abort()
  return events
}

test('a Table has the columns of the kind and the metadata of each object', async () => {
  const table = await json(kubevirts, { headers: asTable })
  expect(table).toMatchObject({
    kind: 'Table',
    columnDefinitions: [{ name: 'Name', format: 'name' }, { name: 'Age' }, { name: 'Phase' }],
    rows: [
      {
        cells: ['kubevirt', expect.stringMatching(/^\d+s$/), 'Deployed'],
        object: { kind: 'PartialObjectMetadata' },
      },
    ],
  })
})

test('metadata-only lists leave spec and status out', async () => {
  const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
  const { kind, items } = await json(kubevirts, { headers: { accept } })
  expect(kind).toBe('PartialObjectMetadataList')
  expect(items?.[0]).toEqual({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: expect.objectContaining({ name: 'kubevirt' }),
  })
})

test('old and aggregated discovery name the same resources', async () => {
  const { resources } = await json('/apis/kubevirt.io/v1')
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const { items } = await json('/apis', { headers: { accept } })
  const group = items?.find((g) => g.metadata.name === 'kubevirt.io')
  const aggregated = group?.versions[0]?.resources.flatMap((r) =>
    [r.resource].concat(r.subresources.map((s) => `${r.resource}/${s.subresource}`)),
  )
  expect(resources?.map((r) => r.name)).toEqual(aggregated)
  expect(aggregated).toContain('kubevirts/status')
  expect(aggregated).not.toContain('virtualmachineinstances/status')
})

test.each([
  ['PATCH of an unknown type', `${kubevirts}/kubevirt`, send('PATCH', 'text/plain', {}), 415],
  [
    'a strategic merge of a custom kind',
    `${kubevirts}/kubevirt`,
    send('PATCH', 'application/strategic-merge-patch+json', {}),
    415,
  ],
  [
    'an apply without a manager',
    `${kubevirts}/kubevirt`,
    send('PATCH', 'application/apply-patch+yaml', {}),
    422,
  ],
  ['a body that is not JSON', kubevirts, { method: 'POST', body: 'no' }, 400],
  [
    'a PUT without a resourceVersion',
    `${kubevirts}/kubevirt`,
    send('PUT', 'application/json', { metadata: { name: 'kubevirt' } }),
    422,
  ],
  ['a token that has expired', kubevirts, { headers: { authorization: 'Bearer expired' } }, 401],
  ['somebody without rights', kubevirts, { headers: { authorization: 'Bearer sim-x' } }, 403],
  [
    'impersonation by who may not',
    kubevirts,
    { headers: { authorization: 'Bearer sim-x', 'impersonate-user': 'y' } },
    403,
  ],
])('%s', async (_, path, init: RequestInit, status) => {
  const answer = await call(path, init)
  expect(answer.status).toBe(status)
  expect(await answer.json()).toMatchObject({ kind: 'Status', status: 'Failure', code: status })
})

test('what nothing serves is 404 in plain text', async () => {
  const answer = await call('/apis/nothing.io/v1/things')
  expect([answer.status, await answer.text()]).toEqual([404, '404 page not found\n'])
})

/** The managers after kubectl's `edit` has set the tag. */
async function managersAfter(query: string, imageTag: string): Promise<unknown> {
  const headers = {
    'content-type': 'application/merge-patch+json',
    'user-agent': 'kubectl-edit/v1.35 (linux)',
  }
  const init = { method: 'PATCH', headers, body: JSON.stringify({ spec: { imageTag } }) }
  const { metadata } = await json(`${kubevirts}/kubevirt${query}`, init)
  return metadata?.managedFields?.map(({ manager }) => manager)
}

test('the manager is the one that is named, else the first word of the user agent', async () => {
  expect(await managersAfter('', 'v2')).toEqual(['kubectl-create', 'kubectl-edit'])
  expect(await managersAfter('?fieldManager=kvup', 'v3')).toEqual(['kubectl-create', 'kvup'])
})

test('a watch without a revision begins with what is there, as rows for who wants rows', async () => {
  const [first] = await watched(`${kubevirts}?watch=true`, 1, { headers: asTable })
  expect(first).toMatchObject({
    type: 'ADDED',
    object: { kind: 'Table', rows: [{ cells: ['kubevirt', expect.any(String), 'Deployed'] }] },
  })
})

test('a watch ends after timeoutSeconds with a bookmark', async () => {
  const answer = await call(
    `${kubevirts}?watch=true&resourceVersion=${store.revision}&timeoutSeconds=1&allowWatchBookmarks=true`,
  )
  expect(JSON.parse(await answer.text())).toMatchObject({
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion: String(store.revision) } },
  })
})

test('429 carries Retry-After', async () => {
  faults.add({ is: 'refused', status: 429, retryAfter: 7, times: 1 })
  const answer = await call(kubevirts)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7'])
  expect((await call(kubevirts)).status).toBe(200)
})

test('subresources are whoever registered for them, under the group of virt-api too', async () => {
  const ref = { name: 'vm', namespace: 'kubevirt' }
  seed(store, [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: ref }])
  const calls: unknown[] = []
  store.onSubresource(
    { apiVersion: 'kubevirt.io/v1', plural: 'virtualmachines' },
    'restart',
    ({ object, dryRun }) => {
      calls.push([object.metadata.name, dryRun])
      return { kind: 'Status', status: 'Success' }
    },
  )
  const path = '/apis/subresources.kubevirt.io/v1/namespaces/kubevirt/virtualmachines/vm/restart'
  expect((await call(path, send('PUT', 'application/json', { dryRun: ['All'] }))).status).toBe(200)
  expect((await call(path.replace('restart', 'pause'), send('PUT', 'application/json', {}))).status).toBe(404)
  expect((await call(`${path}?dryRun=All`, send('PUT', 'application/json', {}))).status).toBe(200)
  expect(calls).toEqual([
    ['vm', true],
    ['vm', false],
  ])
  const none = path.replace('/restart', '')
  expect(await call(none).then((answer) => answer.text())).toBe(`unknown api endpoint: ${none}`)
  expect((await call(none)).status).toBe(401)
  expect(store.audit.at(0)).toMatchObject({
    verb: 'update',
    group: 'subresources.kubevirt.io',
    subresource: 'restart',
  })
})

/** A length-delimited protobuf field. */
function text(field: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([field * 8 + 2, bytes.length]), bytes])
}

test("kubectl's protobuf is understood where kubectl sends it", async () => {
  // `kubectl auth can-i get kv`, as it was sent.
  const attributes = Buffer.concat([
    text(1, 'default'),
    text(2, 'get'),
    text(3, 'kubevirt.io'),
    text(5, 'kubevirts'),
  ])
  const type = Buffer.concat([text(1, 'authorization.k8s.io/v1'), text(2, 'SelfSubjectAccessReview')])
  const body = Buffer.concat([Buffer.from('k8s\0'), text(1, type), text(2, text(2, text(1, attributes)))])
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  const answer = await json('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    method: 'POST',
    headers,
    body,
  })
  expect(answer).toMatchObject({
    spec: { resourceAttributes: { verb: 'get', resource: 'kubevirts' } },
    status: { allowed: true },
  })
})
