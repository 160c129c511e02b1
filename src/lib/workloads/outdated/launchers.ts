import { parseImage } from '../../facts/image.ts'
import type { Releases } from '../../releases/releases.ts'
import { minorOf, versionOf } from '../../releases/version.ts'

/** What is known of a launcher image (night W9). */
export interface Launcher {
  /** `v1.7.2`; undefined where the image does not tell. */
  version?: string | undefined
  /** The one that new pods get. */
  inUse: boolean
  /** Its release is more than a year old. */
  old: boolean
}

interface Installed {
  /** Of virt-controller's `--launcher-image`; undefined: not seen. */
  image: string | undefined
  /** Of KubeVirt: tells the version of that image where it is a digest. */
  version: string | undefined
}

const year = 365 * 86_400_000

/** Tells of each image what is known, once per image: thousands of VMIs share a few. */
export function launchersOf(
  { image, version }: Installed,
  { minors }: Releases,
  at: Date,
): (image: string) => Launcher {
  const known = new Map<string, Launcher>()
  const look = (asked: string): Launcher => {
    const inUse = asked === image
    const release = versionOf(inUse ? version : parseImage(asked).tag)
    const day = release && minors[minorOf(release)]?.releases[release.text]
    const old = day !== undefined && at.getTime() - Date.parse(day) > year
    return { version: release?.text, inUse, old }
  }
  return (asked) => {
    const found = known.get(asked) ?? look(asked)
    known.set(asked, found)
    return found
  }
}
