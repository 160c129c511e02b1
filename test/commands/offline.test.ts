import { ownMark, printedLine } from '../../src/lib/output/terminal.ts'
import { describe, expect, test } from 'vitest'
import { type ConfigDocument, configView } from '../../src/commands/config.ts'
import { rbac, type RbacDocument } from '../../src/commands/rbac.ts'
import { version, type VersionDocument } from '../../src/commands/version.ts'
import type { Context } from '../../src/context.ts'
import { Deployments } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { parseManifest } from '../../src/lib/manifests/manifest.ts'
import type { Document, DocumentStatus, Paint, View } from '../../src/lib/output/printer.ts'
import { skewOf } from '../../src/lib/releases/platform-releases.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { Store } from '../../src/simulator/api/store.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { unreachable } from '../../src/lib/kube/errors.ts'
import { container, example } from '../lib/manifests/example.ts'

const plain = (text: string) => text
const paint: Paint = {
  good: plain,
  bad: plain,
  warn: plain,
  dim: plain,
  strong: plain,
  mark: { done: '+', failed: 'x', running: '>', warning: '!', next: `${ownMark}->`, to: '->', dot: '.' },
  bar: () => '',
}

const readText = async () => {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
}

/** What a command printed, on a machine where no cluster can be reached unless one is given. */
async function printed<D extends Document>(run: (cx: Context) => Promise<void>, more: object = {}) {
  const warnings: string[] = []
  const results: { document: D; text: string; names: readonly string[]; status: DocumentStatus }[] = []
  const printer = {
    warn: (line: string) => warnings.push(line),
    result<T extends Document>(document: T, view: View<T>, status: DocumentStatus = 'complete') {
      const text = view.text(document, paint, { columns: Infinity, wide: false }).map(printedLine).join('\n')
      results.push({ document: document as unknown as D, text, names: view.names(document), status })
    },
  }
  await run({
    printer,
    clock: new SimClock(),
    flags: { output: 'table', color: 'auto', requestTimeout: '30s' },
    world: { version: '1.2.3', env: { HOME: '/home/me' }, readText },
    cluster: async () => {
      throw unreachable('no-cluster', 'no cluster')
    },
    ...more,
  } as unknown as Context)
  expect(results).toHaveLength(1)
  return { ...results[0]!, warnings }
}

describe('kvup rbac', () => {
  test('prints what kubectl apply takes, and how to bind it; no cluster is asked', async () => {
    const { document, text, names } = await printed<RbacDocument>((cx) =>
      rbac(cx, { namespaceOfKubevirt: 'virt' }, 'kvup-upgrade'),
    )
    expect(parseManifest(text, 'stdout')).toEqual(document.items)
    expect(text).toContain('kubectl -n virt create rolebinding kvup-upgrade --role=kvup-upgrade --user=NAME')
    expect(text).not.toContain('escalate')
    expect(names).toEqual([
      'clusterrole.rbac.authorization.k8s.io/kvup-upgrade',
      'role.rbac.authorization.k8s.io/kvup-upgrade',
    ])
  })

  test('with the namespace of the catalog it has a part there, which is bound as well', async () => {
    const { document, text, names } = await printed<RbacDocument>((cx) =>
      rbac(cx, { namespaceOfKubevirt: 'virt', namespaceOfCatalog: 'olm' }, 'kvup-olm'),
    )
    expect(parseManifest(text, 'stdout')).toEqual(document.items)
    expect(text).toContain('kubectl -n olm create rolebinding kvup-olm --role=kvup-olm --user=NAME')
    expect(text).toMatch(/namespace: olm[^]*# optional: sum up what an InstallPlan installs/u)
    expect(names).toHaveLength(3)
  })

  test('says that the role of the operator manifest may escalate', async () => {
    const { text } = await printed((cx) =>
      rbac(cx, { namespaceOfKubevirt: 'kubevirt' }, 'kvup-operator-manifest'),
    )
    expect(text).toContain('# It may escalate and bind')
  })

  test.each(['a; rm -rf /', '', 'UPPER'])('%j is no namespace: exit 2', async (namespaceOfKubevirt) => {
    await expect(printed((cx) => rbac(cx, { namespaceOfKubevirt }, 'kvup-view'))).rejects.toMatchObject({
      exitCode: 2,
    })
  })
})

describe('kvup config view', () => {
  test('shows every setting, its value and where it comes from', async () => {
    const world = {
      env: { HOME: '/home/me', KVUP_STABLE_FOR: '10s' },
      readText: async () => 'timeout: 2h\n',
    }
    const flags = { output: 'json', color: 'auto', requestTimeout: '30s' }
    const { document, text } = await printed<ConfigDocument>((cx) => configView(cx, { showOrigin: true }), {
      world,
      flags,
    })
    expect(document.items).toContainEqual({ name: 'output', value: 'json', origin: 'flag', at: '--output' })
    expect(text).toMatch(/^stable-for +10s +environment KVUP_STABLE_FOR$/m)
    expect(text).toMatch(/^timeout +2h +file \/home\/me\/\.config\/kvup\/config\.yaml$/m)
    expect(text).toMatch(/^color +auto +default$/m)
  })

  test('without --show-origin it shows values only', async () => {
    const { text } = await printed((cx) => configView(cx, {}))
    expect(text).toMatch(/^timeout +60m$/m)
  })
})

describe('kvup version', () => {
  test('--client asks no cluster', async () => {
    const { document, text } = await printed<VersionDocument>((cx) => version(cx, { client: true }))
    expect(document).toEqual({ apiVersion: 'kvup.io/v1alpha1', kind: 'Version', client: '1.2.3' })
    expect(text).toBe('kvup        1.2.3')
  })

  test('without a cluster the failure is not hidden', async () => {
    await expect(printed((cx) => version(cx, {}))).rejects.toMatchObject({ exitCode: 8 })
  })

  test('names the operator, what is installed and where it is going', async () => {
    const cluster = storeCluster(new Store(new SimClock()))
    const metadata = { name: 'kubevirt', namespace: 'kubevirt' }
    await cluster.writer.create(Namespaces, { ...kindOf(Namespaces), metadata: { name: 'kubevirt' } })
    const status = { observedKubeVirtVersion: 'v1.7.0', targetKubeVirtVersion: 'v1.8.4' }
    await cluster.writer.create(KubeVirts, { ...kindOf(KubeVirts), metadata })
    await cluster.writer.mergePatch(KubeVirts, metadata, { status }, 'status')
    const { operator } = example()
    expect(container(operator).image).toContain('v1.8.4')
    await cluster.writer.create(Deployments, operator)
    const { document, text, warnings } = await printed<VersionDocument>((cx) => version(cx, {}), {
      cluster: async () => cluster,
    })
    expect(document.kubevirt).toEqual({
      namespace: 'kubevirt',
      operator: 'v1.8.4',
      observed: 'v1.7.0',
      target: 'v1.8.4',
    })
    expect(document.server).toMatch(/^v1\./)
    expect(text).toContain('KubeVirt    v1.7.0, moving to v1.8.4 (operator v1.8.4)')
    expect(warnings).toEqual(skewOf({ kubevirt: 'v1.7.0', kubernetes: document.server }))
  })
})

const kindOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) => ({ apiVersion, kind })
