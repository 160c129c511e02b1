// Compares names and columns of the kinds in src/simulator/openshift/platform.json with the CRDs of openshift/api (a checkout's folder is the argument), and says what differs.
// Source of what is not there: NodeMaintenance and NodeHealthCheck are of medik8s; the Message of a ClusterOperator is what `oc get co` shows besides.
// The other data there are from docs/facts/openshift.md: releases and their edges 3.7, operators and their order 3.1, conditions 3.1 to 3.5, alerts 1.10.
import { globSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'

const [folder = '../api'] = process.argv.slice(2)
const { kinds } = JSON.parse(readFileSync('src/simulator/openshift/platform.json', 'utf8'))
const files = globSync(`${folder}/*/*/zz_generated.crd-manifests/*.crd.yaml`).sort()
const definitions = files.map((file) => parse(readFileSync(file, 'utf8')).spec)
const plain = (path) => path.replaceAll(/["'[\]\\]/gu, '').replaceAll('annotations.', 'annotations')

for (const { kind, shortNames = [], columns } of kinds) {
  const [apiVersion, name, plural] = kind.split(' ')
  const [group, version] = apiVersion.split('/')
  const known = definitions.find((spec) => spec.group === group && spec.names.kind === name)
  if (known === undefined) {
    console.log(`${name}: not in ${folder}`)
    continue
  }
  const { additionalPrinterColumns = [] } = known.versions.find((one) => one.name === version) ?? {}
  const real = additionalPrinterColumns.map((one) => `${one.name} ${plain(one.jsonPath)}`)
  const ours = Object.entries(columns).map(([title, path]) => `${title} ${plain(path)}`)
  const isNamed = known.names.plural === plural && `${known.names.shortNames ?? []}` === `${shortNames}`
  const differ = [...real.filter((one) => !ours.includes(one)), ...ours.filter((one) => !real.includes(one))]
  console.log(`${name}: ${isNamed ? 'named so' : 'NAMED OTHERWISE'}, differs in [${differ.join('; ')}]`)
}
