import { type Version, versionOf } from './version.ts'

/** Whether it is of this minor (`v1.9`), or of a later one. */
export function reaches(version: Version, minor: string): boolean {
  const is = versionOf(`${minor}.0`)
  return is !== undefined && order(is) <= order(version)
}

const order = ({ major, minor }: Version) => major * 10_000 + minor
