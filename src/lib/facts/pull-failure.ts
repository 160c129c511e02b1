const said: readonly (readonly [RegExp, string])[] = [
  [/not found|manifest unknown|does not exist|NotFound/i, 'not found'],
  [/toomanyrequests|429|rate limit/i, 'the registry limits the rate'],
  [/unauthorized|denied|authentication|401|403/i, 'not allowed to pull it'],
  [/x509|certificate/i, 'the certificate of the registry is not trusted'],
  [/no such host|lookup .* on /i, 'the name of the registry does not resolve'],
  [
    /i\/o timeout|deadline exceeded|connection refused|no route to host|unreachable/i,
    'the registry cannot be reached',
  ],
  [/no space left/i, 'no space left on the node'],
  [/invalid reference|couldn't parse|InvalidImageName/i, 'not a valid image name'],
]

/** What went wrong with a pull, in a few words, from the text of the container runtime; undefined when it does not say. */
export function pullFailure(text: string): string | undefined {
  return said.find(([pattern]) => pattern.test(text))?.[1]
}
