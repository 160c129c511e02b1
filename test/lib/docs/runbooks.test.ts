import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { explanations } from '../../../src/lib/checks/explanations.ts'
import { allChecks } from '../../../src/lib/checks/check-run.ts'
import runbooks from './runbooks.json' with { type: 'json' }

/**
 * What stood in the repositories of runbooks when it was looked up; a name that is not there leads nowhere. kubevirt/monitoring at b02df9429 (2026-07-23), `docs/runbooks/NAME.md`:
 * kubevirt.io/monitoring/runbooks/NAME shows them, and that is the address in KubeVirt's own alerts. openshift/runbooks at 82bd2d9d3 (2026-07-08), below `alerts`: those about
 * what an update waits for.
 */
const ofKubeVirt = new Set(runbooks.kubevirt)
const ofOpenShift = new Set(runbooks.openshift)

test('every check that names a runbook of KubeVirt names one that there is', () => {
  const named = allChecks.flatMap(({ id, runbook }) => (runbook === undefined ? [] : [{ id, runbook }]))
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter(({ runbook }) => !ofKubeVirt.has(runbook))).toEqual([])
})

test('every runbook of KubeVirt and its neighbors is an alert that kvup explains, and no other is', () => {
  const explained = explanations.filter(({ kind }) => kind === 'alert').map(({ id }) => id)
  expect(explained.toSorted()).toEqual([...ofKubeVirt].toSorted())
})

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(`src/${name}`, 'utf8'))

const found = (pattern: RegExp): string[] =>
  sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))

test('every address of a runbook of OpenShift is one that there is', () => {
  const folders = found(/'https:\/\/github\.com\/openshift\/runbooks\/blob\/master\/alerts\/([a-z-]+)'/gu)
  const files = found(/\$\{runbooks\}\/(\w+\.md)/gu)
  const addresses = folders.flatMap((folder) => files.map((file) => `${folder}/${file}`))
  expect(addresses.length).toBeGreaterThan(1)
  expect(addresses.filter((address) => !ofOpenShift.has(address))).toEqual([])
})

test('there is no address of a runbook but of these two homes', () => {
  const homes = found(/(https:\/\/[^\s'"`]*\/runbooks?\/)/gu)
  expect([...new Set(homes)].toSorted()).toEqual([
    'https://github.com/openshift/runbooks/',
    'https://kubevirt.io/monitoring/runbooks/',
  ])
})
