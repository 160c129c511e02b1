// Writes src/simulator/api/http/protobuf.json: the fields of what kubectl sends as protobuf, by the generated.proto of k8s.io/api and k8s.io/apimachinery.
// Needs Go, for its modules: `node build/protobuf-fields.mjs`.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const version = 'v0.35.4'
/** What kubectl creates by a typed client, asks, or sends with DELETE. */
const kinds =
  'CronJob Deployment Job PodDisruptionBudget PriorityClass ClusterRole ClusterRoleBinding Role RoleBinding ResourceQuota Service Namespace ServiceAccount ConfigMap Secret Eviction DeleteOptions SelfSubjectReview SelfSubjectAccessReview SelfSubjectRulesReview'.split(
    ' ',
  )
/** No flag of `kubectl create` sets these. */
const left =
  /Status$|^Volume|Affinity|Probe|^Lifecycle|Security|Ephemeral|ManagedFields|Resource(?:Claim|Policy|Resize)|Toleration|^HostAlias|PodDNS|TopologySpread|Failure|SuccessPolicy|SessionAffinity|Scope|AggregationRule|EnvVarSource|EnvFrom|Container(?:Restart|Resource)|Readiness|OwnerReference|NonResource|FieldSelector|LabelSelectorAttributes|SchedulingGate|PodOS|WorkloadReference/u

const files = {
  api: 'apps/v1 authentication/v1 authorization/v1 batch/v1 core/v1 policy/v1 rbac/v1 scheduling/v1',
  apimachinery: 'pkg/apis/meta/v1 pkg/api/resource pkg/util/intstr',
}

const messages = new Map()
for (const [module, folders] of Object.entries(files)) {
  const answer = execFileSync('go', ['mod', 'download', '-json', `k8s.io/${module}@${version}`], {
    encoding: 'utf8',
  })
  for (const folder of folders.split(' ')) {
    const text = readFileSync(`${JSON.parse(answer).Dir}/${folder}/generated.proto`, 'utf8')
    for (const [, name, body] of text.matchAll(/^message (\w+) \{\n(.*?)^\}/gmsu))
      messages.set(name, [...body.matchAll(/^ {2}(?:optional )?(.+) (\w+) = (\d+)/gmu)])
  }
}

/** `[]Container`, `{}string`, `text`. */
function typeOf(text) {
  const [, list, map, type] = /^(repeated )?(map<string, )?\.?([\w.]+)/u.exec(text)
  return `${list ? '[]' : map ? '{}' : ''}${type.split('.').at(-1)}`
}

const found = {}
function take(name) {
  if (name in found) return
  found[name] = []
  for (const [, text, field, number] of messages.get(name)) {
    const type = typeOf(text)
    const below = type.replace(/^\W+/u, '')
    if (left.test(below)) continue
    found[name].push(`${number} ${field} ${type}`)
    if (messages.has(below)) take(below)
  }
}
for (const kind of kinds) take(kind)

const table = {
  source: `generated.proto of k8s.io/api ${version}, by build/protobuf-fields.mjs`,
  messages: found,
}
const output = fileURLToPath(new URL('../src/simulator/api/http/protobuf.json', import.meta.url))
writeFileSync(output, `${JSON.stringify(table, null, 1)}\n`)
execFileSync('npx', ['oxfmt', output], { stdio: 'inherit' })
console.log(`${Object.keys(found).length} messages`)
