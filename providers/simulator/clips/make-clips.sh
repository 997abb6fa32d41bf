#!/usr/bin/env bash
# Makes the clips that the simulator answers with, by ffmpeg (5.1 made those of the repository).
# Each lasts eight seconds, and each second is a fragment of its own: ../clip.ts cuts between them.
set -euo pipefail
cd "$(dirname "$0")"

MP4=(-movflags +frag_keyframe+empty_moov+default_base_moof -map_metadata -1 -fflags +bitexact
  -flags:v +bitexact -flags:a +bitexact -t 8)

# In a file without times of its own: it then begins with the pictures, at 0.
sound=$(mktemp --suffix .aac)
trap 'rm "$sound"' EXIT
ffmpeg -nostdin -y -v error -f lavfi -i anullsrc=r=48000:cl=mono -c:a aac -b:a 16k \
  -frames:a 375 "$sound"

make_clips() {
  local name=$1 width=$2 height=$3
  local bar=$((height / 60))
  # A bar grows along the lower edge, an eighth of the width each second.
  local film="overlay=x='W*(t/8-1)':y=H-$((bar * 3)),format=yuv420p"
  ffmpeg -nostdin -y -v error -f lavfi -i "smptehdbars=s=${width}x$height:r=8" \
    -f lavfi -i "color=0xf5f5f5:s=${width}x$bar:r=8" -filter_complex "$film" -an \
    -c:v libx264 -profile:v main -preset slow -crf 40 -g 8 -sc_threshold 0 -bf 0 -threads 1 \
    "${MP4[@]}" "$name-silent.mp4"
  ffmpeg -nostdin -y -v error -i "$name-silent.mp4" -i "$sound" -c copy -bsf:a aac_adtstoasc \
    "${MP4[@]}" "$name-audio.mp4"
}

make_clips 720p-16x9 1280 720
make_clips 720p-9x16 720 1280
make_clips 1080p-16x9 1920 1080
make_clips 1080p-9x16 1080 1920
make_clips 4k-16x9 3840 2160
make_clips 4k-9x16 2160 3840
