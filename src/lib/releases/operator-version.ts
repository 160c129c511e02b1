import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import satisfies from 'semver/functions/satisfies.js'

/** A release of the operator that HyperConverged comes from: `1.18.1` upstream, `4.18.9` on OpenShift. Another line than that of KubeVirt: never compare them. */
export interface OperatorVersion {
  /** Canonical, without a `v`. */
  readonly text: string
  readonly major: number
  readonly minor: number
  readonly patch: number
}

/** Undefined where the text is no full release. A `v` before it is left out. */
export function operatorVersionOf(text: string | undefined): OperatorVersion | undefined {
  if (text === undefined || !/^v?\d/u.test(text)) return undefined
  const parsed = parse(text)
  if (parsed === null) return undefined
  const { version, major, minor, patch } = parsed
  return { text: version, major, minor, patch }
}

/** Negative when a is older. By semver; both have to be of one line. */
export function compareOperatorVersions(a: OperatorVersion, b: OperatorVersion): number {
  return compare(a.text, b.text)
}

/** Whether it lies in a range of a catalog, `>=4.17.0 <4.18.3` (ocp 2.6). A range that is none holds nothing. */
export function isInSkipRange({ text }: Pick<OperatorVersion, 'text'>, range: string): boolean {
  return satisfies(text, range, { includePrerelease: true })
}

/** The version in the name of a CSV: `kubevirt-hyperconverged-operator.v1.18.1` (ocp 1.1). */
export function versionOfCsv(name: string | undefined): OperatorVersion | undefined {
  const text = /\.v(?<version>\d.*)$/u.exec(name ?? '')?.groups?.['version']
  return operatorVersionOf(text)
}

/** `1.18`. */
export function operatorMinor({ major, minor }: Pick<OperatorVersion, 'major' | 'minor'>): string {
  return `${major}.${minor}`
}

/** What stands before the version in the name of a CSV: the same for each release of an operator. */
export const stemOf = (csv: string): string => csv.replace(/\.v\d.*$/u, '')
