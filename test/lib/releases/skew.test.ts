import { expect, test } from 'vitest'
import { skewOf } from '../../../src/lib/releases/platform-releases.ts'

test.each([
  ['v1.8.4', 'v1.34.1'],
  ['v1.8.4', 'v1.34.1+k3s1'],
  [undefined, 'v1.34.1'],
  ['devel', 'v1.34.1'],
  ['v1.8.4', undefined],
])('KubeVirt %s on Kubernetes %s: nothing to say', (kubevirt, kubernetes) => {
  expect(skewOf({ kubevirt, kubernetes })).toEqual([])
})

test('manner 32: a KubeVirt that is newer than the release data', () => {
  expect(skewOf({ kubevirt: 'v1.99.0', kubernetes: undefined })).toEqual([
    expect.stringMatching(
      /^KubeVirt v1\.99\.0 is newer than v1\.\d+, the newest that this kvup knows \(\d{4}-\d\d-\d\d\)/,
    ),
  ])
})

test.each(['v1.20.0', 'v1.99.0'])('manner 32: a Kubernetes outside the window: %s', (kubernetes) => {
  expect(skewOf({ kubevirt: 'v1.8.4', kubernetes })).toEqual([
    expect.stringMatching(
      new RegExp(
        `^Kubernetes ${kubernetes} is outside 1\\.\\d+ to 1\\.\\d+, which KubeVirt v1\\.8 supports$`,
      ),
    ),
  ])
})
