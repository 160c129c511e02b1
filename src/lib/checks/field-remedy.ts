import type { KubeObject } from '../kube/object.ts'
import { itemsOf } from '../kube/known.ts'
import { shellWord, withPurpose } from '../kube/shell-line.ts'
import { managerOf, placeOf } from '../kubevirt/installation.ts'
import { writtenVersion } from '../openshift/operator-rules.ts'
import { bringsField } from '../releases/kubevirt-fields.ts'
import { enters } from '../releases/release-path.ts'
import { latestPatch } from '../releases/releases.ts'
import { minorOf, type Version, versionOf } from '../releases/release-versions.ts'
import { type Question, valueIn } from './check-definition.ts'

/** A value for a field, or what is added to the list in it. */
type Wanted = { value: unknown } | { add: readonly unknown[] }

/** What HyperConverged passes on to these fields of the KubeVirt, by the version of its API (hco 2). */
const passedOn: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'spec.configuration.migrations.completionTimeoutPerGiB': {
    v1beta1: 'spec.liveMigrationConfig.completionTimeoutPerGiB',
    v1: 'spec.virtualization.liveMigrationConfig.completionTimeoutPerGiB',
  },
  'spec.infra.nodePlacement': {
    v1beta1: 'spec.infra.nodePlacement',
    v1: 'spec.deployment.nodePlacements.infra',
  },
}

/**
 * How a field of the KubeVirt (`spec.configuration.vmRolloutStrategy`) is set: by a line where it can be typed now, for whoever owns the field; else by a
 * sentence. A field that the installed release lacks is never patched: the API server would prune it. A list goes by what was read: behind another change of
 * it the line is refused, and takes nothing back.
 */
export function setField(
  question: Question,
  field: string,
  wanted: Wanted,
  purpose?: string,
): readonly string[] {
  const { kubevirt, name, namespace } = question.installation
  const value = 'add' in wanted ? [...listIn(kubevirt, field), ...wanted.add] : wanted.value
  const setting = settingText(field, value)
  const owner = managerOf(kubevirt)
  if (owner?.kind === 'hyperconverged') return [onHyperConverged(question, field, value)]
  const place = placeOf(owner)
  const installed = versionOf(question.rolloutStatus.observed.version)
  const since = installed && bringsField(installed, field)
  if (installed !== undefined && since !== undefined)
    return onceThere({ installed, since, setting, place, field }, question)
  const when = purpose === undefined ? '' : ` (${purpose})`
  if (place !== '') return [`${setting}${place}${when}: its next sync reverts a change of the KubeVirt`]
  const patch = 'add' in wanted ? guardedPatch(kubevirt, field, value) : patchOf(field, value)
  const type = Array.isArray(patch) ? 'json' : 'merge'
  const line = `kubectl -n ${namespace} patch kubevirt ${name} --type=${type} -p ${shellWord(JSON.stringify(patch))}`
  return [purpose === undefined ? line : withPurpose(line, purpose)]
}

const settingText = (field: string, value: unknown): string =>
  value === null ? `remove ${field}` : `set ${field}: ${JSON.stringify(value)}`

/** The version is named: a write in another one than the stored one can lose fields. */
function onHyperConverged({ installation, snapshot }: Question, field: string, value: unknown): string {
  const fields = passedOn[field]
  if (fields === undefined)
    return `HyperConverged has no field for ${field}: it can be set only by its annotation kubevirt.kubevirt.io/jsonpatch, which is not supported and has to go before an upgrade`
  const crd = itemsOf(snapshot.crds).find(({ metadata }) => metadata.name.startsWith('hyperconvergeds.'))
  const version = crd && writtenVersion(crd)
  const path = version === undefined ? undefined : fields[version]
  const { name } = installation.manager
  if (path === undefined || name === undefined)
    return `${settingText(Object.values(fields).join(' or '), value)} on the HyperConverged, by its API version`
  return `kubectl -n ${installation.namespace} patch hyperconvergeds.${version}.hco.kubevirt.io ${name} --type=merge -p ${shellWord(JSON.stringify(patchOf(path, value)))}`
}

interface LaterField {
  installed: Version
  /** The minor that brings the field. */
  since: string
  setting: string
  place: string
  field: string
}

/** Where the target is later still, there is a release in between that has the field. */
function onceThere(
  { installed, since, setting, place, field }: LaterField,
  { target, releases }: Question,
): readonly string[] {
  const stop = latestPatch(since, releases)
  const first = versionOf(`${since}.0`)
  const isBetween = first && target && enters({ from: first, to: target }, minorOf(target))
  if (!isBetween || stop === undefined)
    return [`once ${since} is installed, which brings the field: ${setting}${place}`]
  const brings = `brings ${field.split('.').at(-1)}, which ${installed.text} lacks`
  return [
    place === ''
      ? withPurpose(`kvup upgrade --to ${stop.text}`, brings)
      : `upgrade to ${stop.text} first, which ${brings}`,
    `then, before ${target.text}, ${setting}${place}`,
  ]
}

const listIn = (kubevirt: KubeObject, field: string): readonly unknown[] => {
  const found = valueIn(kubevirt, field)
  return Array.isArray(found) ? found : []
}

/** A JSON patch that holds only as long as what lies there, or what it is put into, is as it was read. */
function guardedPatch(kubevirt: KubeObject, field: string, value: unknown): readonly object[] {
  const steps = field.split('.')
  let depth = steps.length
  while (depth > 1 && valueIn(kubevirt, steps.slice(0, depth).join('.')) === undefined) depth--
  const at = (count: number) => `/${steps.slice(0, count).join('/')}`
  const there = valueIn(kubevirt, steps.slice(0, depth).join('.'))
  const below = patchOf(steps.slice(depth + 1).join('.'), value)
  return [
    { op: 'test', path: at(depth), value: there },
    depth === steps.length
      ? { op: 'replace', path: at(depth), value }
      : { op: 'add', path: at(depth + 1), value: below },
  ]
}

/** An object with this value at that path: a merge patch. */
const patchOf = (path: string, value: unknown): unknown =>
  path === '' ? value : path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
