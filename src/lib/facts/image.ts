/** An image reference in its parts: `quay.io/kubevirt/virt-operator:v1.8.4`. */
export interface Image {
  /** Everything before the last slash. */
  registry: string
  /** The last part of the path, without tag and digest. */
  name: string
  tag?: string
  digest?: string
}

/** Reads an image reference; a port in the registry is not a tag. */
export function parseImage(reference: string): Image {
  const [path = '', digest] = reference.split('@', 2)
  const slash = path.lastIndexOf('/')
  const [name = '', tag] = path.slice(slash + 1).split(':', 2)
  return {
    registry: slash < 0 ? '' : path.slice(0, slash),
    name,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  }
}
