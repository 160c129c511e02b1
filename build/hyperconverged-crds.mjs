// Writes src/simulator/hyperconverged/hyperconverged-crds.json: which fields each release's CRD of HyperConverged has in its spec, and what it fills in. Source: deploy/crds/hco00.crd.yaml of
// kubevirt/hyperconverged-cluster-operator at v1.17.3, v1.18.1 and main of August 2026, `hco-RELEASE.yaml` in KVUP_CRDS. Cut to what is played: three levels of fields, and as defaults the
// two stanzas that are passed on to KubeVirt, for the conversion between versions moves fields of the same name only.
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'yaml'

const folder = process.env['KVUP_CRDS'] ?? '../shared/lab/crd-files'
const releases = { 'v1beta1 alone': 'v1.17.3', 'v1beta1 stored': 'v1.18.1', 'v1 stored': 'main' }
const levels = 3
/** KubeVirt has the same default. */
const later = 'allowWorkloadDisruption'
const passedOn = ['liveMigrationConfig', 'workloadUpdateStrategy']

/** Names of fields apart by blanks; where one has fields of its own, a member for it and those without under ''. */
function fieldsOf({ properties = {} }, level = 1) {
  const below = Object.entries(properties).map(([name, schema]) => [
    name,
    schema.properties && level < levels ? fieldsOf(schema, level + 1) : '',
  ])
  const leaves = below.filter(([, fields]) => fields === '').map(([name]) => name)
  const others = below.filter(([, fields]) => fields !== '')
  const plain = leaves.join(' ')
  return others.length === 0 ? plain : Object.fromEntries([['', plain], ...others])
}

function defaultsOf({ properties = {} }) {
  const own = Object.entries(properties).filter(([name, schema]) => 'default' in schema && name !== later)
  return Object.fromEntries(own.map(([name, schema]) => [name, schema.default]))
}

function versionOf({ name, schema }) {
  const { spec } = schema.openAPIV3Schema.properties
  const { properties } = name === 'v1' ? spec.properties.virtualization : spec
  const defaults = Object.fromEntries(passedOn.map((field) => [field, defaultsOf(properties[field])]))
  return [name, { fields: fieldsOf(spec), defaults }]
}

const table = Object.entries(releases).map(([how, release]) => {
  const { versions } = parse(readFileSync(`${folder}/hco-${release}.yaml`, 'utf8')).spec
  return [how, Object.fromEntries(versions.map(versionOf))]
})
const target = 'src/simulator/hyperconverged/hyperconverged-crds.json'
writeFileSync(target, `${JSON.stringify(Object.fromEntries(table), null, 2)}\n`)
