const plainImage = /^[\w./:@+-]+$/u
const all = `kubectl get virtualmachineinstances -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,LAUNCHER:.status.launcherContainerImageVersion`

/**
 * Commands that list the VMIs on these virt-launcher images, one each: the label of outdated VMIs tells only which differ from the
 * installed one. An image that no registry could have is not quoted for a shell: all are listed then, with their image.
 */
export function listByLauncher(images: readonly string[]): readonly string[] {
  if (!images.every((image) => plainImage.test(image))) return [all]
  return images.map(
    (image) =>
      `kubectl get virtualmachineinstances -A -o jsonpath='{range .items[?(@.status.launcherContainerImageVersion=="${image}")]}{.metadata.namespace}{" "}{.metadata.name}{"\\n"}{end}'`,
  )
}
