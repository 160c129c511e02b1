// More than 3 s of processor time: each story is a cluster for hours of its clock.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import * as coreKinds from '../../../src/lib/kube/kinds/core-kinds.ts'
import * as extensionKinds from '../../../src/lib/kube/kinds/extension-kinds.ts'
import * as kubevirtKinds from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import * as openshiftKinds from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import * as operatorKinds from '../../../src/lib/kube/kinds/operator-kinds.ts'
import * as workloadKinds from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { Ref } from '../../../src/lib/kube/cluster.ts'
import { atVersion, type Kind, type KubeObject } from '../../../src/lib/kube/object.ts'
import type { Store } from '../../../src/simulator/api/store.ts'
import { type Opened, openWorld, type World } from './worlds.ts'

/** `README.md` there says what the words of a story mean. */
interface Story extends World {
  title: string
  tells: Record<string, string>
  steps: readonly Step[]
}

interface Step {
  wait?: string
  until?: string
  faults?: object
  patch?: readonly [which: string, change: object]
  create?: KubeObject
  delete?: string
  approve?: string
  call?: readonly [which: string, method: string, name: string, body?: object]
  /** `Kind namespace/name`: what the server answers. */
  get?: string
  orphan?: true
  /** The manifest of that release's operator. */
  apply?: string
  sub?: string
  dry?: true
}

const folder = 'test/examples/simulator/'
const kinds = [coreKinds, extensionKinds, kubevirtKinds, openshiftKinds, operatorKinds, workloadKinds]
  .flatMap((all) => Object.values(all) as unknown[])
  .filter((one): one is Kind => typeof one === 'object' && one !== null && 'plural' in one)

/** `Kind`, `Kind@version`. */
function kindOf(text: string): Kind {
  const [name, version] = text.split('@')
  const kind = kinds.find((one) => one.kind === name)
  if (kind === undefined) throw new Error(`no kind ${name}`)
  return version === undefined ? kind : atVersion(kind, version)
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject) =>
  namespace === undefined ? name : `${namespace}/${name}`

/** The first of `Kind REGEX`, which is held against `namespace/name SPEC`. */
function find(store: Store, which: string): { kind: Kind; ref: Ref } {
  const [first = '', ...rest] = which.split(' ')
  const kind = kindOf(first)
  const like = new RegExp(rest.join(' '), 'u')
  const found = store
    .list(kindOf(first.replace(/@.*/u, '')))
    .items.find((one) => like.test(`${keyOf(one)} ${JSON.stringify('spec' in one ? one.spec : {})}`))
  if (found === undefined) throw new Error(`no ${which}`)
  return { kind, ref: { name: found.metadata.name, namespace: found.metadata.namespace } }
}

interface Said {
  type?: string
  status?: string
  reason?: string
  message?: string
}

/** What an object says, by path; a condition in one piece. */
function leaves(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value !== 'object' || value === null) return [[path, String(value).slice(0, 300)]]
  const { type, status, reason = '', message = '' } = value as Said
  if (type !== undefined && status !== undefined && path.includes('onditions')) {
    const words = message === '' ? '' : `: ${message}`
    return [[`${path.replace(/[^.]+$/u, '')}${type}`, `${status}/${reason}${words}`]]
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return [[path, Array.isArray(value) ? '[]' : '{}']]
  return entries.flatMap(([name, part]) => leaves(part, path === '' ? name : `${path}.${name}`))
}

const seconds = { s: 1, m: 60, h: 3600 }
const msOf = (span: string) =>
  Number(span.slice(0, -1)) * 1000 * seconds[span.slice(-1) as keyof typeof seconds]

/** Everything that a story tells, in the order in which it happened, with the time since its beginning. */
class Teller {
  readonly world: Opened
  readonly lines: string[] = []
  readonly #last = new Map<string, ReadonlyMap<string, string>>()
  readonly #began: number

  constructor(world: Opened, tells: Story['tells']) {
    this.world = world
    this.#began = world.clock.now().getTime()
    for (const [which, paths] of Object.entries(tells)) {
      const [first = '', names = ''] = which.split(' ')
      const kind = kindOf(first)
      const [like, wanted] = [new RegExp(`^${names}$`, 'u'), new RegExp(`^(?:${paths})`, 'u')]
      const tell = (object: KubeObject, gone: boolean, time: string) => {
        if (like.test(keyOf(object)))
          this.#tell(`${kind.kind} ${keyOf(object)}`, gone ? undefined : object, [wanted, time])
      }
      for (const one of world.store.list(kind).items) tell(one, false, '')
      const stop = world.store.watch(kind, ({ type, object }) => tell(object, type === 'DELETED', this.now()))
      onTestFinished(stop)
    }
  }

  /** The later the coarser: a second that one thing takes longer is not to move all that follows. */
  now(): string {
    const at = (this.world.clock.now().getTime() - this.#began) / 1000
    if (at < 30) return `${Math.round(at)}s `
    return at < 600
      ? `${Math.floor(Math.round(at / 10) / 6)}m${(Math.round(at / 10) % 6) * 10}s `
      : `${Math.round(at / 60)}m `
  }

  #tell(name: string, object: KubeObject | undefined, [wanted, time]: readonly [RegExp, string]): void {
    const before = this.#last.get(name) ?? new Map<string, string>()
    const now = new Map(object === undefined ? [] : leaves(object).filter(([path]) => wanted.test(path)))
    this.#last.set(name, now)
    const changes = [...now].flatMap(([path, text]) => (before.get(path) === text ? [] : [`${path}=${text}`]))
    const gone = [...before.keys()].flatMap((path) => (now.has(path) ? [] : [`${path} gone`]))
    if (object === undefined) this.lines.push(`${time}${name} gone`)
    else if (changes.length + gone.length > 0)
      this.lines.push(`${time}${name}: ${[...changes, ...gone].join('; ')}`)
  }
}

async function take(step: Step, teller: Teller): Promise<void> {
  const { world, lines } = teller
  const { store, clock, faults, reviewer } = world
  const writer = step.dry ? reviewer.dryRun : world.writer
  if (step.wait !== undefined) await clock.sleep(msOf(step.wait))
  if (step.faults !== undefined) {
    const off = Object.entries(step.faults).map(([name, on]) => [
      name,
      on === null ? undefined : (on as unknown),
    ])
    faults.set(Object.fromEntries(off) as object)
  }
  if (step.patch !== undefined) {
    const { kind, ref } = find(store, step.patch[0])
    await writer.mergePatch(kind, ref, step.patch[1], step.sub as 'status')
  }
  if (step.create !== undefined) {
    const { ownerReferences = [], namespace = '' } = step.create.metadata
    for (const owner of ownerReferences)
      owner.uid ??= store.read(kindOf(owner.kind), { name: owner.name, namespace })?.metadata.uid ?? ''
    await writer.create(kindOf(step.create.kind), step.create)
  }
  if (step.delete !== undefined) {
    const { kind, ref } = find(store, step.delete)
    if (step.orphan) store.remove(kind, ref, { orphan: true })
    else await writer.delete(kind, ref)
  }
  if (step.approve !== undefined) {
    const { kind, ref } = find(store, `InstallPlan "approved":false.*${step.approve}`)
    await writer.mergePatch(kind, ref, { spec: { approved: true } } as object)
  }
  for (const object of step.apply === undefined ? [] : (world.operatorManifest?.(step.apply) ?? [])) {
    const kind = store.kinds.ofObject(object)
    if (kind) await world.writer.apply(kind, object, { force: true })
  }
  if (step.call !== undefined) {
    const [which, method, name, body = {}] = step.call
    const { kind, ref } = find(store, which)
    await world.writer.subresource(kind, ref, { name, method: method as 'PUT', body })
  }
  if (step.get !== undefined) {
    const [kind = '', key = ''] = step.get.split(' ')
    const [namespace, name = ''] = key.split('/')
    const found = await world.reader.get(kindOf(kind), { namespace, name })
    lines.push(`${teller.now()}${found.is} ${found.is === 'object' ? found.object.apiVersion : ''}`.trimEnd())
  }
  if (step.until !== undefined) {
    const like = new RegExp(step.until, 'u')
    const from = lines.length
    for (let looks = 0; !lines.slice(from).some((line) => like.test(line)); looks++) {
      if (looks > 360_000) throw new Error(`never: ${step.until}\n${lines.join('\n')}`)
      await clock.sleep(100)
    }
  }
}

/** Names that a server makes, by the order in which they are told. */
function numbered(text: string): string {
  const known = new Map<string, string>()
  return text.replace(/(?<=[-.])(?:job)?[bcdfghjklmnpqrstvwxz2456789]{5,10}(?=[-.:; \n]|$)/gmu, (made) => {
    const name = known.get(made) ?? `#${known.size + 1}`
    known.set(made, name)
    return name
  })
}

async function storyOf(story: Story): Promise<string> {
  const world = await openWorld(story)
  const teller = new Teller(world, story.tells)
  const versionOf = async () => (story.on === 'platform' ? (await world.reader.version()).gitVersion : '')
  let version = await versionOf()
  for (const step of story.steps) {
    teller.lines.push(`> ${JSON.stringify(step)}`)
    try {
      await take(step, teller)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      teller.lines.push(`refused ${error.status}: ${error.message}`)
    }
    const now = await versionOf()
    if (now !== version) teller.lines.push(`the server is ${(version = now)}`)
  }
  return numbered(`## ${story.title}\n${teller.lines.join('\n')}\n`)
}

const update = process.env['UPDATE'] === '1'

describe.each(readdirSync(folder).filter((name) => name.endsWith('.json')))('%s', (file) => {
  const stories = JSON.parse(readFileSync(folder + file, 'utf8')) as Story[]
  const golden = `${folder}${file.replace('.json', '.txt')}`
  const expected = update ? '' : readFileSync(golden, 'utf8')
  const written: string[] = []

  test.each(stories.map((story) => [story.title, story] as const))('%s', async (title, story) => {
    const text = await storyOf(story)
    written.push(text)
    if (update) writeFileSync(golden, written.join('\n'))
    const found = (update ? written.join('\n') : expected).split(`## ${title}\n`)[1]?.split('\n## ')[0]
    expect(text).toBe(`## ${title}\n${found?.trimEnd()}\n`)
  })
})
