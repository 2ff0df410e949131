# Evaluates a formula of Homebrew as Homebrew does, without Homebrew, and prints as JSON what it would download on each system.
# usage: ruby formula.rb FORMULA
require "json"

FIELDS = {}
DOWNLOADS = {}

class Formula
  @at = []
  class << self
    %i[desc homepage version license].each { |name| define_method(name) { |value| FIELDS[name] = value } }
    %i[url sha256].each do |name|
      define_method(name) { |value| (DOWNLOADS[Formula.at.join("-")] ||= {})[name] = value }
    end
    %i[on_macos on_linux on_arm on_intel].each do |name|
      define_method(name) do |&block|
        Formula.at.push(name.to_s.delete_prefix("on_"))
        block.call
        Formula.at.pop
      end
    end
    attr_reader :at
    def test(&block) = FIELDS[:test] = !block.nil?
    def inherited(formula) = FIELDS[:class] = formula
  end
end

load ARGV.fetch(0)
FIELDS[:install] = FIELDS[:class].method_defined?(:install)
FIELDS[:class] = FIELDS[:class].name
puts JSON.generate(fields: FIELDS, downloads: DOWNLOADS)
