// Writes src/simulator/virt-operator/release-objects.json: what a release of KubeVirt consists of, with placeholders. Sources: the install strategy that the real virt-operator v1.8.4
// writes (here into a simulated API) and its kubevirt-operator.yaml, both made by test/e2e/lab/build (KVUP_LAB_CACHE), and recorded updates in test/transcripts/recorded. Cut to what
// is played: of roles each API group once, of pods what the recorder keeps, of CRDs no schema. By hand: `since` and `until`, minors of v1.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'
import { systemClock } from '../src/lib/kube/clock.ts'
import { ConfigMaps } from '../src/simulator/kinds.ts'
import { serveSimulator } from '../src/simulator/api/http-server.ts'
import { ensureNamespace, Store } from '../src/simulator/api/store.ts'
import { readTranscript } from '../test/transcripts/read.ts'

const version = 'v1.8.4'
const lab = process.env['KVUP_LAB_CACHE'] ?? join(homedir(), '.cache/kvup-lab')

async function installStrategy() {
  const store = new Store(systemClock)
  ensureNamespace(store, 'kubevirt')
  const server = await serveSimulator(store)
  const file = join(mkdtempSync(join(tmpdir(), 'strategy-')), 'kubeconfig')
  writeFileSync(file, server.kubeconfig())
  const config = { id: 'it', namespace: 'kubevirt', registry: 'quay.io/kubevirt', kubeVirtVersion: version }
  const env = {
    KUBEVIRT_VERSION: version,
    VIRT_OPERATOR_IMAGE: `quay.io/kubevirt/virt-operator:${version}`,
    TARGET_DEPLOYMENT_CONFIG: JSON.stringify({ ...config, additionalProperties: {} }),
  }
  const args = ['--dump-install-strategy', '--kubeconfig', file]
  await once(spawn(join(lab, 'bin/kubevirt', version, 'virt-operator'), args, { env }), 'exit')
  await server.close()
  const [map] = store.list(ConfigMaps, { namespace: 'kubevirt' }).items
  return gunzipSync(Buffer.from(map?.data?.['manifests'] ?? '', 'base64')).toString()
}

const objectsIn = (text) => parseAllDocuments(text).flatMap((one) => one.toJS() ?? [])
const strategy = objectsIn(await installStrategy())
const operator = objectsIn(readFileSync(join(lab, `manifests/${version}/kubevirt-operator.yaml`), 'utf8'))

const some = (object, ...keys) =>
  Object.fromEntries(keys.flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]]])))

/** The stamps of one deployment are virt-operator's to add. */
const labelled = ({ labels = {}, ...metadata }) => {
  const left = /^app\.kubernetes\.io\/(?:managed-by|component|version)$|^np\./u
  const kept = Object.entries(labels).filter(([key]) => !left.test(key))
  return {
    ...some(metadata, 'name', 'namespace'),
    ...(kept.length > 0 && { labels: Object.fromEntries(kept) }),
  }
}

const groups = [
  '',
  ...['', 'snapshot.', 'export.', 'pool.', 'clone.', 'backup.'].map((name) => `${name}kubevirt.io`),
]
groups.push(
  'apps',
  'batch',
  'policy',
  'apiextensions.k8s.io',
  'rbac.authorization.k8s.io',
  'coordination.k8s.io',
)

/** Each group once, with all verbs that the role has on anything of it; an operand's has only groups that all of them share. */
const rulesOf = (rules, isOperand) =>
  groups.flatMap((group) => {
    const verbs = rules.filter(({ apiGroups }) => apiGroups?.includes(group)).flatMap((rule) => rule.verbs)
    if (verbs.length === 0 || (isOperand && !/^(?:snapshot\.|backup\.)?kubevirt\.io$/u.test(group))) return []
    const rule = { apiGroups: [group], resources: ['*'], verbs: [...new Set(verbs)] }
    return group.startsWith('backup.') ? Object.assign({ since: 8 }, rule) : rule
  })

/** Of pods that play no program (virt-template) no command. */
const podOf = ({ metadata, spec }, isPlayed = true) => ({
  metadata: labelled(metadata),
  spec: {
    ...some(spec, 'serviceAccountName', 'restartPolicy', 'nodeSelector', 'priorityClassName', 'tolerations'),
    ...(spec.affinity && { affinity: { nodeAffinity: some(spec.affinity.nodeAffinity, required) } }),
    containers: spec.containers.map((one) =>
      some(one, 'name', 'image', ...(isPlayed ? ['command', 'args', 'env'] : [])),
    ),
  },
})
const required = 'requiredDuringSchedulingIgnoredDuringExecution'

const webhooks = /^(?:kubevirt-update-validator|virtualmachine-validator|virtualmachines-mutator)\./u
const filling = {
  ConfigMap: { data: { 'ca-bundle': '' } },
  Secret: { data: { 'tls.crt': '', 'tls.key': '' } },
}

function cut(object) {
  const { apiVersion, kind, metadata, spec, ...more } = object
  const whole = { apiVersion, kind, metadata: labelled(metadata), ...more, ...filling[kind] }
  delete whole.status
  if (more.rules) whole.rules = rulesOf(more.rules, !metadata.name.includes('operator'))
  if (more.webhooks)
    whole.webhooks = more.webhooks
      .filter(({ name }) => webhooks.test(name))
      .map((one) => Object.assign(one, { clientConfig: { ...one.clientConfig, caBundle: '{{ca}}' } }))
  if (kind === 'APIService') whole.spec = { ...spec, caBundle: '{{ca}}' }
  else if (spec?.template)
    whole.spec = {
      ...some(spec, 'replicas', 'selector', 'strategy', 'updateStrategy', 'backoffLimit'),
      template: podOf(spec.template, !metadata.name.includes('template')),
    }
  else if (spec) whole.spec = spec
  return whole
}

const operands = ['virt-handler', 'virt-controller', 'virt-api', 'virt-exportproxy']
operands.push('virt-synchronization-controller', 'virt-template-apiserver', 'virt-template-controller')
const recorded = [
  'operator-v1.8.4-v1.9.0-slow-webhook',
  'operator-v1.8.4-v1.9.0',
  'operator-v1.7.0-v1.8.4',
].flatMap((name) => readTranscript(name).map(({ object }) => object))
const last = (name) => recorded.findLast((one) => one?.spec?.template && one.metadata.name === name)

const played = new Set([
  ...['apiserver', 'controller', 'handler', 'exportproxy'].flatMap((name) =>
    ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'].map((kind) => `${kind} kubevirt-${name}`),
  ),
  ...['admin', 'edit', 'view', 'migrate'].map((name) => `ClusterRole kubevirt.io:${name}`),
  ...['kubevirt-operator-webhook', 'virt-api', 'virt-exportproxy'].map((name) => `Service ${name}`),
  ...['operator', 'virt-api', 'controller', 'virt-handler'].map((name) => `Secret kubevirt-${name}-certs`),
  ...['operator', 'api'].map((name) => `ValidatingWebhookConfiguration virt-${name}-validator`),
  ...['v1', 'v1alpha3'].map((name) => `APIService ${name}.subresources.kubevirt.io`),
  'MutatingWebhookConfiguration virt-api-mutator',
  'ConfigMap kubevirt-ca',
])
const support = new Map(strategy.map((one) => [`${one.kind} ${one.metadata.name}`, one]))

const byHand = {
  VirtualMachinePool: [{ until: 7, versions: ['v1alpha1'] }, { since: 7 }],
  VirtualMachineExport: [{ until: 9 }, { since: 9, versions: ['v1', 'v1beta1'] }],
  VirtualMachineBackup: [{ since: 8 }],
}
const definitions = [...operator, ...strategy]
  .filter(
    ({ kind, metadata }) =>
      kind === 'CustomResourceDefinition' && !/preset|content|erpref|tracker/u.test(metadata.name),
  )
  .map(({ spec }) =>
    Object.assign(some(spec.names, 'kind', 'plural', 'shortNames', 'categories'), {
      group: spec.group,
      namespaced: spec.scope === 'Namespaced',
      versions: spec.versions.toSorted((a, b) => b.storage - a.storage).map(({ name }) => name),
      status: spec.versions[0].subresources?.status !== undefined,
    }),
  )
  .flatMap((one) => (byHand[one.kind] ?? [{}]).map((more) => Object.assign({}, one, more)))

const job = cut(recorded.find((one) => one?.kind === 'Job'))
job.metadata = some(job.metadata, 'labels')
job.spec.template.metadata.labels = some(job.spec.template.metadata.labels, 'kubevirt.io')
delete job.spec.selector
const [dumper] = job.spec.template.spec.containers
dumper.image = dumper.env[0].value = '{{operatorImage}}'
dumper.env.at(-1).value = '{{config}}'

const parts = Object.fromEntries(operands.map((name) => [name, cut(last(name))]))
// virt-operator adds the argument for migrations itself.
parts['virt-handler'].spec.template.spec.containers[0].args.splice(-2)

const { nodeSelector, affinity, tolerations } = podOf(operator.at(-1).spec.template).spec
const table = {
  source: 'build/virt-operator-objects.mjs',
  definitions,
  manifest: operator.filter(({ kind }) => kind !== 'CustomResourceDefinition').map(cut),
  support: [...support].flatMap(([name, one]) => (played.has(name) ? cut(one) : [])),
  operands: parts,
  onControlPlane: { nodeSelector, affinity, tolerations },
  strategyJob: job,
}
const words = [
  [/quay\.io\/kubevirt\/virt-operator:v1\.[\d.]+/gu, '{{registry}}/virt-operator:{{version}}'],
  [/(?:quay\.io\/kubevirt|registry\.corp\.example:5000\/mirror)\/([\w-]+):v1\.[\d.]+/gu, '{{image $1}}'],
  [/quay\.io\/kubevirt\//gu, '{{registry}}/{{prefix}}'],
  [/"v1\.8\.4"/gu, '"{{version}}"'],
  [/("namespace":|"Namespace","metadata":\{"name":|NAMESPACE","value":)"kubevirt"/gu, '$1"{{namespace}}"'],
]
const text = words.reduce((all, [found, word]) => all.replaceAll(found, word), JSON.stringify(table))
const output = join(import.meta.dirname, '../src/simulator/virt-operator/release-objects.json')
writeFileSync(output, text)
execFileSync('npx', ['oxfmt', output], { stdio: 'inherit' })
