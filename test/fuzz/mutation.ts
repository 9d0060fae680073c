/** Bytes that are nearly right: what fuzzing of pure noise never reaches. */
import fc, { type Arbitrary } from 'fast-check'

type Bytes = Uint8Array<ArrayBufferLike>

const PLACES = 1_000_000

/** An offset of `bytes`, its end among them, from a draw that knows nothing of its length. */
function placeIn(bytes: Bytes, draw: number): number {
  return Math.floor((draw / PLACES) * (bytes.length + 1))
}

function change(): Arbitrary<(bytes: Bytes) => Bytes> {
  const place = fc.nat(PLACES - 1)
  const cut = place.map((at) => (bytes: Bytes) => bytes.subarray(0, placeIn(bytes, at)))
  const beheaded = place.map((at) => (bytes: Bytes) => bytes.subarray(placeIn(bytes, at)))
  const lost = fc.tuple(place, fc.integer({ min: 1, max: 4 })).map(([at, count]) => (bytes: Bytes) => {
    const from = placeIn(bytes, at)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + count)])
  })
  const flipped = fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(([at, mask]) => (bytes: Bytes) => {
    const from = placeIn(bytes, at)
    return bytes.map((byte, index) => (index === from ? byte ^ mask : byte))
  })
  const doubled = fc.tuple(place, place).map(([one, other]) => (bytes: Bytes) => {
    const [from = 0, to = 0] = [placeIn(bytes, one), placeIn(bytes, other)].sort((a, b) => a - b)
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
  })
  const noisy = fc.tuple(place, fc.uint8Array({ maxLength: 6 })).map(([at, noise]) => (bytes: Bytes) => {
    const from = placeIn(bytes, at)
    return Buffer.concat([bytes.subarray(0, from), noise, bytes.subarray(from)])
  })
  return fc.oneof(cut, beheaded, lost, flipped, doubled, noisy)
}

/** One of the bytes with up to three changes: cut, beheaded, bytes lost, flipped, doubled or put between. */
export function mutated(originals: readonly Bytes[]): Arbitrary<Bytes> {
  return fc
    .tuple(fc.constantFrom(...originals), fc.array(change(), { maxLength: 3 }))
    .map(([bytes, changes]) => changes.reduce((changed, make) => make(changed), bytes))
}

/** Anything: noise, changed originals, or several of both with nothing between them. */
export function nearly(originals: readonly Bytes[], noiseMax = 40): Arbitrary<Bytes> {
  const noise = fc.uint8Array({ maxLength: noiseMax })
  const piece = fc.oneof({ weight: 3, arbitrary: mutated(originals) }, { weight: 1, arbitrary: noise })
  return fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => Buffer.concat(pieces))
}
